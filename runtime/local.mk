# The kernel runner; only with CUDA and cuDNN headers.
