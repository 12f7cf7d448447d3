"""What an engineer would take today for a few bytes a picture, beside hash functions.

quantisers and preparations of features → scoring by the protocol of hash functions
"""
