#!/usr/bin/env python3
"""Trains the network of kernels/digits and writes its weights, test images and reference outputs.

A feed-forward network 784-128-64-10 with ReLU on all three layers (Adalbert et al., ERTS 2022,
section V). The paper uses the images of MNIST; this script uses the 1797 handwritten digits of 8x8
pixels that the Python package scikit-learn contains (E. Alpaydin and C. Kaynak, Optical Recognition
of Handwritten Digits, UCI, CC BY 4.0), made 28x28 by bilinear interpolation as the kernel
`digits_enlarge` does it. 64 of them, drawn with a seed, are held out: they are not used to train,
choose or scale anything.

The files are committed: building and testing need no Python. They were made with numpy 2.4.6 and
scikit-learn 1.9.1; another machine may add in another order, and then some weights differ by one.
The files are little endian:

    digits.weights{1,2,3}.bin   signed bytes, neurons x inputs; the weight is the byte times the layer's scale, which is
                                a power of two and is printed
    digits.bias{1,2,3}.bin      doubles
    digits.images.bin           64 images of 8x8 bytes from 0 to 16
    digits.labels.bin           64 bytes: the digits that their writers meant
    digits.outputs.bin          10 x 64 doubles: the outputs of numpy with the rounded weights; the class of an image is the
                                row of the largest number in its column
"""

import os
from pathlib import Path

# the order of sums must not depend on the number of cores
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from sklearn.datasets import load_digits

OUT = Path(__file__).resolve().parent.parent / "kernels/digits"
SEED = 2022
SIZES = [784, 128, 64, 10]
TEST = 64
EPOCHS, BATCH, RATE, DECAY = 60, 32, 1e-3, 1e-4


def enlarged(images):
    """Enlarges 8x8 pixels from 0 to 16 to 28x28 from 0 to 1, a row for each image. The sums are whole numbers."""
    place = np.clip(4 * np.arange(28) - 5, 0, 98)
    low, part = place // 14, place % 14
    high = np.minimum(low + 1, 7)
    along = (14 - part) * images[:, :, low] + part * images[:, :, high]
    both = (14 - part)[:, None] * along[:, low, :] + part[:, None] * along[:, high, :]
    return both.reshape(len(images), 784) * (1.0 / 3136)


def outputs(inputs, weights, biases):
    """Returns the outputs of each layer, one column per image; for the last layer also those before its ReLU."""
    layers = [inputs.T]
    for matrix, bias in zip(weights, biases):
        summed = matrix @ layers[-1] + bias[:, None]
        layers.append(np.maximum(summed, 0.0))
    return layers, summed


def trained(inputs, labels, random):
    """Trains weights and biases: cross entropy of the softmax of the last sums, Adam with a rate that falls to 0."""
    weights = [random.normal(0, np.sqrt(2 / n), (m, n)) for n, m in zip(SIZES, SIZES[1:])]
    biases = [np.zeros(m) for m in SIZES[1:]]
    parameters = weights + biases
    first, second = ([np.zeros_like(p) for p in parameters] for _ in range(2))
    step, steps = 0, EPOCHS * (len(inputs) // BATCH)
    for _ in range(EPOCHS):
        order = random.permutation(len(inputs))
        for batch in np.array_split(order, len(order) // BATCH):
            layers, summed = outputs(inputs[batch], weights, biases)
            delta = np.exp(summed - summed.max(axis=0))
            delta /= delta.sum(axis=0)
            delta[labels[batch], np.arange(len(batch))] -= 1
            delta /= len(batch)
            of_weights, of_biases = [], []
            for layer in reversed(range(3)):
                of_weights.insert(0, delta @ layers[layer].T + DECAY * weights[layer])
                of_biases.insert(0, delta.sum(axis=1))
                delta = (weights[layer].T @ delta) * (layers[layer] > 0)
            rate = RATE * (1 - step / steps)
            step += 1
            for value, gradient, m, v in zip(parameters, of_weights + of_biases, first, second):
                m += 0.1 * (gradient - m)
                v += 0.001 * (gradient**2 - v)
                value -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return weights, biases


def right(found, labels):
    return int((found.argmax(axis=0) == labels).sum())


def main():
    random = np.random.default_rng(SEED)
    digits = load_digits()
    images, labels = digits.images.astype(np.int64), digits.target
    order = random.permutation(len(images))
    test, train = order[:TEST], order[TEST:]
    weights, biases = trained(enlarged(images[train]), labels[train], random)

    bytes_, rounded = [], []
    for index, matrix in enumerate(weights):
        scale = 2.0 ** np.ceil(np.log2(np.abs(matrix).max() / 127))
        bytes_.append(np.rint(matrix / scale).astype(np.int8))
        rounded.append(bytes_[-1] * scale)
        print(f"layer {index + 1}: scale 2^{int(np.log2(scale))}")
    # Softmax does not change if a constant is added to all sums, but the last ReLU does: without
    # this step all outputs of an image could be zero.
    _, summed = outputs(enlarged(images[train]), rounded, biases)
    biases[2] += 1 - summed.max(axis=0).min()

    for name, chosen in ("training", train), ("test", test):
        found = outputs(enlarged(images[chosen]), rounded, biases)[0][-1]
        print(f"{name}: {right(found, labels[chosen])} of {len(chosen)} right")
    for index in range(3):
        (OUT / f"digits.weights{index + 1}.bin").write_bytes(bytes_[index].tobytes())
        (OUT / f"digits.bias{index + 1}.bin").write_bytes(biases[index].astype("<f8").tobytes())
    (OUT / "digits.images.bin").write_bytes(images[test].astype(np.uint8).tobytes())
    (OUT / "digits.labels.bin").write_bytes(labels[test].astype(np.uint8).tobytes())
    (OUT / "digits.outputs.bin").write_bytes(found.astype("<f8").tobytes())


main()
