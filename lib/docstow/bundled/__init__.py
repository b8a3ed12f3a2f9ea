"""The embedding model that docstow carries, and the scripts that made it.

Only the files ``manifest.json``, ``model.onnx`` and ``tokenizer.json`` are used at run time.
"""
