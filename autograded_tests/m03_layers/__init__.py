"""The exercises of 03_layers."""
