"""The exercises of 05_efficient_attention."""
