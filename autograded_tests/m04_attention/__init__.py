"""The exercises of 04_attention."""
