"""Results of the simulator beside those that a GPU computed (`data/measured`)."""

from __future__ import annotations

import importlib.util
import lzma
from typing import Any

import pytest
from support import ROOT

import warpbound as wb

np = pytest.importorskip("numpy")


def _products() -> dict[str, Any]:
    """Returns the matrix products that were measured, by their types of elements."""
    path = ROOT / "scripts" / "microbenchmarks.py"
    spec = importlib.util.spec_from_file_location("microbenchmarks", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {group.name.removeprefix("product_"): group for group in module.products()}


@pytest.mark.parametrize("ty", ["f16", "bf16", "tf32"])
def test_products_are_those_of_an_h100(ty: str, tmp_path: Any) -> None:
    group = _products()[ty]
    (kernel,) = group.kernels.values()
    source = tmp_path / "product.ptx"
    source.write_text(f".version 8.0\n.target sm_90\n.address_size 64\n{kernel}")
    measured = lzma.decompress((ROOT / f"data/measured/h100-sxm-product-{ty}.xz").read_bytes())
    operands = np.frombuffer(group.data, np.uint32)
    out = np.zeros(len(measured) // 4, np.uint32)
    wb.run(wb.kernel(source)[128, 32](out, operands))
    assert out.size == 128 * 128
    assert np.array_equal(out, np.frombuffer(measured, np.uint32))
