"""References whose interface is not Gymnasium's, behind the one that the pairs need."""
