"""Deep unsupervised learners on PyTorch: on the processor, and on an accelerator where there is one (H-10)."""
