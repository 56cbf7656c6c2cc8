"""Differentiable policies (JAX): frozen records of arrays, written for one view and batched by `vmap`."""
