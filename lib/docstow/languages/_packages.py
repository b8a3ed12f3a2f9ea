"""What is installed in a project: its environments, their packages, and what those offer.

The rooms below know project roots and their files, and are the only ones that open them. None of
them runs a package's code.
"""
