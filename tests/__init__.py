"""The tests mirror `bertlab`; `wings` is the suite that both `reference` and `nn` must pass."""
