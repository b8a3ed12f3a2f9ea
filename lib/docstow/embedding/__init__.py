"""Models by choice: from the hub, from a folder, or behind an endpoint; all of them embedders.

This room knows model files and how vectors come out of them. It does not know what the texts are,
where vectors are kept or how they are compared.
"""
