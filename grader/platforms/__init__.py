"""What comes from learning platforms, and what goes to them."""
