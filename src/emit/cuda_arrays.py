class View:
    """Where an array on a GPU is, and its shape; keeps what it was made of alive."""

    __slots__ = ("pointer", "shape", "real", "device", "stream", "writable", "owner")

    def __init__(self, pointer, shape, real, device, stream, writable, owner):
        self.pointer, self.shape, self.real, self.device = pointer, shape, real, device
        self.stream, self.writable, self.owner = stream, writable, owner


def _compact(name, shape, strides, size):
    """Rows one behind the other; strides in units of size, None: compact."""
    if strides is None:
        return
    expected = size
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length != 1 and stride != expected:
            raise ValueError("%s must be contiguous in C order" % name)
        expected *= length


def _from_interface(name, array, interface):
    shape = tuple(interface["shape"])
    real = {"<f4": "float", "<f8": "double"}.get(interface["typestr"], interface["typestr"])
    _compact(name, shape, interface.get("strides"), int(interface["typestr"][2:]))
    if interface.get("mask") is not None:
        raise ValueError("%s has a mask" % name)
    pointer, readonly = interface["data"]
    return View(int(pointer or 0), shape, real, None, interface.get("stream"), not readonly, array)


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _from_dlpack(name, array, stream):
    kind, device = array.__dlpack_device__()
    if kind not in (2, 13):  # CUDA, managed by CUDA
        raise ValueError("%s is not on a GPU" % name)
    # not taken over: the capsule gives its tensor back by itself, and we hold the capsule and the array
    capsule = array.__dlpack__(stream=stream or 1)
    tensor = ctypes.cast(_capsule_pointer(capsule, b"dltensor"), ctypes.POINTER(_Tensor)).contents
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    strides = tuple(tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else None
    _compact(name, shape, strides, 1)
    real = {(2, 32, 1): "float", (2, 64, 1): "double"}.get((tensor.code, tensor.bits, tensor.lanes), "something else")
    return View((tensor.data or 0) + tensor.byte_offset, shape, real, int(device), None, True, (array, capsule))


def view(array, name="the array", stream=None):
    """A View of anything with __dlpack__ (torch, cupy, jax) or __cuda_array_interface__ (torch, cupy, numba)."""
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        if getattr(array, "requires_grad", False):
            array = array.detach()
        return _from_dlpack(name, array, stream)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError("%s has neither __dlpack__ nor __cuda_array_interface__" % name)
    return _from_interface(name, array, interface)


def _stream(given, arrays):
    """A stream's number: as given, else the current one of the library that the arrays are from, else the default one."""
    if given is not None:
        for name in ("cuda_stream", "ptr"):  # torch, cupy
            if hasattr(given, name):
                return int(getattr(given, name))
        return int(given.__cuda_stream__()[1]) if hasattr(given, "__cuda_stream__") else int(given)
    for array in arrays:
        library = type(array).__module__.split(".")[0]
        if library == "torch":
            return sys.modules["torch"].cuda.current_stream(array.device).cuda_stream
        if library == "cupy":
            return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0


def _empty(like, shape):
    library = type(like).__module__.split(".")[0]
    if library == "torch":
        return like.new_empty(shape)
    if library == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, like.dtype)
    raise TypeError("only torch and cupy arrays are made here: give the results as out=")


def _shared(name, values, length):
    numbers = [float(x) for x in values]
    if len(numbers) != length:
        raise ValueError("%s has %d numbers, not %d" % (name, len(numbers), length))
    return (REAL * length)(*numbers)


def _check(name, v, count, length, device):
    if v.real != NAMES[REAL]:
        raise TypeError("%s must be of %s, not %s" % (name, NAMES[REAL], v.real))
    if v.shape != (length, count):
        raise ValueError("%s must have the shape (%d, %d), not %s" % (name, length, count, v.shape))
    if v.device is not None and device is not None and v.device != device:
        raise ValueError("%s is on another GPU" % name)


def _overlap(a, b):
    size = ctypes.sizeof(REAL)
    return a.pointer < b.pointer + size*b.shape[0]*b.shape[1] and b.pointer < a.pointer + size*a.shape[0]*a.shape[1]


def _call(function, shared, inputs, results, out, stream):
    """inputs: (name, length, array), results: (name, length). Queues the work and returns the results."""
    if _library is None:
        load()
    number = _stream(stream, [array for _, _, array in inputs])
    views = [view(array, name, number) for name, _, array in inputs]
    count = views[0].shape[-1] if views[0].shape else 0
    if out is None:
        out = [_empty(inputs[0][2], (length, count)) for _, length in results]
    elif len(results) == 1 and not isinstance(out, (list, tuple)):
        out = [out]
    if len(out) != len(results):
        raise ValueError("out: %d results, not %d" % (len(results), len(out)))
    given = [view(array, name, number) for (name, _), array in zip(results, out)]
    device = next((v.device for v in views + given if v.device is not None), None)
    for (name, length, _), v in zip(inputs, views):
        _check(name, v, count, length, device)
    for k, ((name, length), v) in enumerate(zip(results, given)):
        _check(name, v, count, length, device)
        if not v.writable:
            raise ValueError("%s is read-only" % name)
        if any(_overlap(v, other) for other in views + given[:k]):
            raise ValueError("%s overlaps another array" % name)
    foreign = [v for v in views + given if v.stream not in (None, number)]
    if foreign and not (number in (0, 1) and all(v.stream in (0, 1) for v in foreign)):
        raise ValueError("an array is still in use on another stream: give that stream, or wait for it")
    before = _device() if device is not None else None
    if before not in (None, device):
        _use(device)
    try:
        pointers = [ctypes.c_void_p(v.pointer) for v in views + given]
        code = function(ctypes.c_size_t(count), *shared, *pointers, ctypes.c_void_p(number))
    finally:
        if before not in (None, device):
            _use(before)
    if code:
        raise RuntimeError("CUDA: " + _text(code))
    return out[0] if len(results) == 1 else tuple(out)
