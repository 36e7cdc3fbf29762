/** What calls, methods and attributes do to the autograd graph of the tensors given to them. */
import { words } from "./api-words";

/** Calls that give tensors without a graph whatever they are given (their result is new or integral). */
export const tensorConstructors: ReadonlySet<string> = words(
  `
    tensor from_numpy zeros ones empty full rand randn randint randperm arange linspace
    logspace eye zeros_like ones_like empty_like full_like rand_like randn_like randint_like 
    multinomial tril_indices triu_indices FloatTensor LongTensor Tensor IntTensor
    BoolTensor ByteTensor HalfTensor DoubleTensor frombuffer asarray sparse_coo_tensor hann_window
    hamming_window load manual_seed Generator device Size finfo iinfo is_tensor numel
    cuda.FloatTensor cuda.LongTensor`,
  "torch.",
);

/** `torch.x` and tensor methods whose result is an index, a truth value or a shape: never differentiable. */
const integralResults: readonly string[] = [
  ...words(`
    argmax argmin argsort argwhere eq ne lt le gt ge equal allclose isclose greater greater_equal
    less less_equal not_equal isnan isinf isfinite isneginf isposinf isin isreal logical_and
    logical_or logical_not logical_xor nonzero count_nonzero searchsorted bucketize bincount histc
    unique unique_consecutive any all  signbit numel is_floating_point
    is_complex is_nonzero bitwise_and bitwise_or bitwise_not bitwise_xor`),
];

/** Tensor methods whose result carries no graph. `x.item()`, `x.long()`, `x.size()`, `x.argmax()`. */
export const severingMethods: ReadonlySet<string> = new Set([
  ...integralResults,
  ...words(`
    item detach detach_ tolist numpy long int bool byte short char size dim stride ndimension
    nelement element_size storage untyped_storage data_ptr get_device is_contiguous new_zeros
    new_ones new_full new_empty new_tensor new __len__ multinomial requires_grad_
    sample sample_n backward register_hook retain_grad share_memory_ pin_memory`),
]);

/** Attributes of a tensor that carry no graph. */
export const severingAttributes: ReadonlySet<string> = words(`
    data shape dtype device grad requires_grad is_leaf ndim is_cuda grad_fn layout names itemsize
    nbytes _version`);

/** Builtins and library functions whose result carries no graph. */
export const severingFunctions: ReadonlySet<string> = new Set([
  ...integralResults.map((name) => `torch.${name}`),
  ...[
    ...words(`
    float int bool str repr len round format type isinstance id hash range print any all hasattr
    callable complex bytes ord chr input open`),
  ].map((name) => `builtins.${name}`),
  ...words(`
    math.exp math.log math.sqrt math.isnan math.isfinite math.isinf math.floor math.ceil
    math.log2 math.log10 math.pow math.fsum torch.is_grad_enabled torch.nn.functional.one_hot`),
]);

/** Top-level packages whose functions cannot return a tensor with a graph. */
export const graphFreePackages: ReadonlySet<string> = words(`
    numpy math time os sys json random sklearn scipy pandas PIL cv2 matplotlib seaborn logging
    argparse datetime re pathlib statistics nltk sacrebleu rouge_score evaluate soundfile librosa
    skimage imageio yaml csv pickle shutil subprocess`);

/** Calls to go over whose elements are those of their first argument: progress bars, parts of an iterator. */
export function givesSameElements(qualifiedName: string): boolean {
  return sameElements.test(qualifiedName);
}

const sameElements =
  /^(tqdm(\.\w+)*\.tqdm|tqdm|rich\.progress\.track|fastprogress(\.\w+)*\.(progress_bar|master_bar)|alive_progress\.alive_it|itertools\.(islice|cycle))$/;

/** Tensor methods whose result keeps the graph of the tensor (and of tensor arguments). */
export const graphKeepingMethods: ReadonlySet<string> = words(`
    abs abs_ add add_ addmm addcmul addcdiv sub sub_ subtract mul mul_ multiply div div_ divide
    true_divide matmul mm bmm mv dot outer pow pow_ sqrt rsqrt square exp exp_ expm1 log log1p log2
    log10 log_softmax softmax sigmoid sigmoid_ tanh relu relu_ clamp clamp_ clip clamp_min clamp_max
    neg reciprocal sin cos tan atan erf lerp sum mean std var prod norm max min amax amin median
    mode quantile logsumexp cumsum cumprod topk sort kthvalue view view_as reshape reshape_as
    flatten unflatten squeeze unsqueeze squeeze_ unsqueeze_ transpose permute t swapaxes movedim
    expand expand_as repeat repeat_interleave tile contiguous clone to cuda cpu float half double
    bfloat16 type type_as gather scatter scatter_ scatter_add scatter_add_ index_select index_add
    index_add_ index_fill masked_fill masked_fill_ masked_select masked_scatter select narrow chunk
    split unbind unfold roll flip diag diagonal trace tril triu where cat nan_to_num nanmean nansum
    fill_diagonal_ real imag conj ravel baddbmm cross cdist dist renorm fmod remainder maximum
    minimum copy_ zero_ fill_ normal_ uniform_ bernoulli_ exponential_ random_ T mT log_prob entropy rsample cdf icdf`);

/** Attributes of a tensor that keep its graph. */
export const graphKeepingAttributes: ReadonlySet<string> = new Set(["T", "mT", "H", "mH", "real", "imag"]);

/** `torch.x` functions that are no differentiable operation of their arguments though they live in `torch`. */
const notOperations: ReadonlySet<string> = words(`
    torch.save torch.compile torch.manual_seed torch.set_grad_enabled torch.no_grad
    torch.enable_grad torch.inference_mode torch.is_tensor torch.typename
    torch.use_deterministic_algorithms`);

/** Functions that pass a tensor's graph on from any of their arguments: `torch.x`, `torch.nn.functional.x`, … */
export function keepsGraph(qualifiedName: string): boolean {
  if (severingFunctions.has(qualifiedName) || tensorConstructors.has(qualifiedName)) return false;
  if (notOperations.has(qualifiedName)) return false;
  if (/^torch\.(nn\.functional|linalg|fft|special)\.[a-z_0-9]+$/.test(qualifiedName)) return true;
  if (/^torch\.[a-z][a-z_0-9]*$/.test(qualifiedName)) return true;
  if (/^einops\.(rearrange|reduce|repeat|einsum|pack|unpack)$/.test(qualifiedName)) return true;
  if (/^torch\.distributions(\.[a-z_.]+)?\.(kl_divergence|[A-Z][A-Za-z]*)$/.test(qualifiedName)) return true;
  return builtinsThatKeep.has(qualifiedName) || checkpointFunctions.has(qualifiedName);
}

const builtinsThatKeep: ReadonlySet<string> = words(`
    builtins.sum builtins.list builtins.tuple builtins.dict builtins.max builtins.min
    builtins.sorted builtins.reversed builtins.zip builtins.enumerate builtins.abs builtins.pow
    builtins.iter builtins.next builtins.map builtins.filter builtins.set builtins.getattr
    collections.deque torch.utils.checkpoint.checkpoint itertools.chain functools.reduce
    torch.autograd.Variable`);

export const checkpointFunctions: ReadonlySet<string> = new Set([
  "torch.utils.checkpoint.checkpoint",
  "torch.utils.checkpoint.checkpoint_sequential",
]);

/** Calls by which gradients are computed, other than `x.backward()`. */
export const gradientFunctions: ReadonlySet<string> = words(`
    torch.autograd.grad torch.autograd.backward torch.func.grad torch.autograd.functional.jacobian
    torch.autograd.functional.hessian torch.autograd.functional.vjp torch.autograd.functional.jvp`);

/** Methods named like this compute gradients of their first argument (Accelerate, Fabric, DeepSpeed, Lightning, apex). */
export const backwardMethods: ReadonlySet<string> = new Set(["backward", "manual_backward", "backward_pass"]);

/** Methods that put their argument into the container they are called on; which argument, counted from 0. */
export const storingMethods: ReadonlyMap<string, number> = new Map([
  ["append", 0],
  ["appendleft", 0],
  ["add", 0],
  ["extend", 0],
  ["extendleft", 0],
  ["insert", 1],
  ["put", 0],
  // In place: a tensor that outlives the iteration takes the graph of what is added.
  ["add_", 0],
  ["sub_", 0],
  ["put_nowait", 0],
]);

/** Methods that empty a container. */
export const clearingMethods: ReadonlySet<string> = words(`
    clear pop popleft popitem remove reset get get_nowait`);

/** Calls that only read their arguments: giving a tensor to them keeps nothing. */
export function onlyReads(qualifiedName: string): boolean {
  return readers.has(qualifiedName) || graphFreePackages.has(qualifiedName.split(".")[0] ?? "");
}

const readers: ReadonlySet<string> = new Set([
  ...[
    ...words(`
    print len float int str bool repr round format isinstance type range id hash any all hasattr`),
  ].map((name) => `builtins.${name}`),
  ...words(`
    torch.is_tensor torch.save torch.isnan torch.isfinite torch.isinf wandb.log
    mlflow.log_metric mlflow.log_metrics tqdm.tqdm.write`),
]);

/** Methods of loggers, progress bars, writers and files: they read a value, turn it into text or a number, and drop it. */
export const readingMethods: ReadonlySet<string> = words(`
    add_scalar add_scalars add_histogram add_image set_postfix set_postfix_str set_description write
    info debug warning error format log_metric log_metrics writerow join report scalar_summary`);
