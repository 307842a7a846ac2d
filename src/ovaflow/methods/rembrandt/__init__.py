"""Rembrandt: labels embedded in few dimensions, predicted there, and decoded (Mineiro and
Karampatziakis 2015).
"""
