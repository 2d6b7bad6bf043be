"""Pyramid pooling axial transformer on images of shapes."""
