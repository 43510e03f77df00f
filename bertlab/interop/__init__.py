"""Trained weights out of the package and back in: safetensors and JSON, never pickle."""

from bertlab.interop.transformer import load_transformer, save_transformer

__all__ = ["load_transformer", "save_transformer"]
