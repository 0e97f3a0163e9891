"""What people read: feedback for students, a report for instructors."""
