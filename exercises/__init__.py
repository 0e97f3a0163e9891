"""How an exercise is asked and judged. Nothing here is secret: what is asked, and the right answers, are in autograded_tests/."""
