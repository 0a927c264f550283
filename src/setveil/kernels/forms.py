"""How kernels are compiled: whole where Python calls them, as a part of the caller where a kernel does.

Numba compiles every function as if Python called it: with a wrapper that unpacks Python objects, with all optimizations, to machine code.
A kernel that only kernels call needs none of that, because its code is optimized and compiled again inside its callers. So a kernel has two
forms, each compiled when it is first needed:

- the entry form, which Python calls. It is cached on disk;
- the inner form, which kernels call. It is code of LLVM that every entry form that needs it takes over, so it is stored nowhere else.

Both leave out the passes of Numba for what kernels do not use, such as closures, generated code and expressions over whole arrays.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import cache, cached_property, update_wrapper
from typing import TYPE_CHECKING, Any

import numba
from numba.core import typed_passes, types, typing, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPTIONS = {"nogil": True, "fastmath": False, "boundscheck": False, "no_cfunc_wrapper": True}
"""How every kernel is compiled. C code, which could call it through another wrapper, never does."""
UNUSED_PASSES = {
    untyped_passes.DeadBranchPrune,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.InlineClosureLikes,
    untyped_passes.InlineInlinables,
    untyped_passes.LiteralPropagationSubPipelinePass,
    untyped_passes.LiteralUnroll,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.WithLifting,
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
    typed_passes.NopythonRewrites,
}


READING = {"getattr", "getitem", "static_getitem", "exhaust_iter", "build_tuple"}
"""Expressions that give arrays without making them."""


class Kernel:
    """A compiled loop, which Python and other kernels call like a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.entry = numba.njit(pipeline_class=_EntryCompiler, **OPTIONS)(function)
        update_wrapper(self, function)

    def __call__(self, *values: Any) -> Any:
        """Run the entry form, which is loaded or compiled first if these types are new."""
        return self.entry(*values)

    @property
    def signatures(self) -> list[Any]:
        """The types for which Python has called it."""
        found: list[Any] = self.entry.signatures
        return found

    @cached_property
    def _inner(self) -> Any:
        """The inner form, which Python must not call."""
        return numba.njit(pipeline_class=_InnerCompiler, no_cpython_wrapper=True, **OPTIONS)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What Numba sees where a kernel calls this one."""
        return numba.types.Dispatcher(self._inner)


class _EntryLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of an entry form: optimized once, when what it calls is linked in."""

    def _optimize_functions(self, module: Any) -> None:
        """Leave a module without the code that it calls as it is: the whole is optimized later, and twice."""
        module.data_layout = self._codegen._data_layout  # noqa: SLF001 - as the class it extends does


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of an inner form: linked with what it calls, and left to the callers to optimize and compile."""

    def finalize(self) -> None:
        """Link what it calls."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)  # noqa: SLF001 - as the class it extends does
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)  # noqa: SLF001 - the same
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is no machine code."""
        del name
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> _NoMachineCode:
        """What sets the environment of machine code, of which there is none."""
        return _NoMachineCode()


class _NoMachineCode:
    """Where no environment can be set: the entry forms set it."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Collect no garbage: looking through the many objects of a compiler for some takes a tenth of its time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Typing(typing.Context):  # type: ignore[misc]  # Numba has no types
    """Numba's rules for the types of calls. Answers for its own functions are stored.

    Numba tries dozens of rules for each call, even for a sum of two integers, and compiles functions such as `np.empty` once per form.
    """

    def __init__(self, rules: Any) -> None:
        self.__dict__ = rules.__dict__  # the same rules, also when Numba adds some
        self._answers: dict[Any, tuple[Any, Any]] = {}

    def resolve_function_type(self, func: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """Return the types of a call."""
        kind = func if isinstance(func, types.Type) else self.resolve_value_type(func)
        if kws or not isinstance(kind, types.Function):
            return super().resolve_function_type(func, args, kws)
        call = kind, tuple(args)
        signature, chosen = self._answers.get(call, (None, None))
        # Other code that is compiled with other options, such as fastmath, replaces what a function chose last.
        if signature is None or kind.get_impl_key(signature) is not chosen:
            signature = super().resolve_function_type(func, args, kws)
            if signature is not None:
                self._answers[call] = signature, kind.get_impl_key(signature)
        return signature


@cache
def _typing(rules: Any) -> _Typing:
    return _Typing(rules)


class _EntryCompiler(CompilerBase):  # type: ignore[misc]  # Numba has no types
    """Compiles entry forms."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes that kernels need."""
        self.state.typingctx = _typing(self.state.typingctx)
        self.state.library = _EntryLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return [_used_passes(self.state)]

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile, and set the environments of the inner forms inside, as Numba does where it loads a function from its cache."""
        with _no_collection():
            compiled = super().compile_extra(function)
        for environment in compiled._find_referenced_environments():  # noqa: SLF001 - the same
            compiled.codegen.set_env(environment.env_name, environment)
        return compiled


class _InnerCompiler(CompilerBase):  # type: ignore[misc]  # Numba has no types
    """Compiles inner forms."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes that kernels need, for code that stays without machine code."""
        self.state.typingctx = _typing(self.state.typingctx)
        self.state.library = _InnerLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return [_used_passes(self.state)]


def _used_passes(state: Any) -> Any:
    manager = DefaultPassBuilder.define_nopython_pipeline(state)
    manager.passes = [(kind, about) for kind, about in manager.passes if kind not in UNUSED_PASSES]
    manager.add_pass_after(_BorrowArrays, typed_passes.NopythonTypeInference)
    manager.finalize()
    return manager


@register_pass(mutates_CFG=False, analysis_only=False)
class _BorrowArrays(FunctionPass):  # type: ignore[misc]  # Numba has no types
    """Count no references to arrays in a kernel that neither makes nor returns one: its callers hold what it reads.

    A kernel with structs counts one reference for each array of a struct in each call otherwise.
    """

    _name = "setveil_borrow_arrays"

    def __init__(self) -> None:  # abstract in the class it extends
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Switch counting off where nothing is owned."""
        made = [
            signature.return_type
            for expression, signature in state.calltypes.items()
            if signature is not None and getattr(expression, "op", "") not in READING
        ]
        if not any(_holds_arrays(state, kind) for kind in [*made, state.return_type]):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return False


def _holds_arrays(state: Any, kind: Any) -> bool:
    return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())
