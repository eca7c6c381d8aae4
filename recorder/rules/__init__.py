"""The rules of chess and its variants: positions, proofs of moves, FEN and move notation. Imports nothing of ours."""
