"""Reads the operator list (``aten_ops/*.yaml``) and writes the registrations for PrivateUse1.

Runs at build time: ``python -m generator --list aten_ops --output build/.../generated`` with ``aten_ops`` on the path.

``operator_list`` reads and checks the list, ``schema`` is the one module that touches ``torchgen``, ``emit`` writes the text.
"""
