"""Where the sums of measures are computed: NumPy with BLAS, or PyTorch on a card."""
