/**
 * The variables that a run with a user of its own inherits from its agent. The others are left out, since the agent's
 * environment belongs to another user.
 */
const named =
  /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|LD_LIBRARY_PATH|PYTHONPATH|VIRTUAL_ENV|CONDA_PREFIX|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|[a-z]+_proxy|[A-Z]+_PROXY|(OMP|MKL|OPENBLAS|NCCL|RCCL|GLOO|UCX|FI|CUDA|CUDNN|ROCM|HIP|HSA|MIOPEN|TORCH|PYTORCH|NVIDIA)_[A-Z0-9_]*|TY_TEST_RUN)$/;

/** `more` contains further names; a name that ends in * is a prefix. */
export function inheritedByUser(
  inherited: Readonly<Record<string, string>>,
  more: readonly string[],
): Readonly<Record<string, string>> {
  const isMore = (name: string): boolean =>
    more.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));
  return Object.fromEntries(
    Object.entries(inherited).filter(([name]) => named.test(name) || isMore(name)),
  );
}
