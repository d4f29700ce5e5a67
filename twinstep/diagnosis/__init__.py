"""From a divergence to a failure report: case, shrinking, witness, module, record, Markdown."""
