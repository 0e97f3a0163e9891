"""The exercises of 02_activations."""
