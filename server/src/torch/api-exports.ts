/** The names that star imports of the usual modules bring in. */
import { words } from "./api-words";

/** What `from module import *` brings in, for the modules that scripts star-import. Others answer no. */
export function isKnownExport(module: string, name: string): boolean {
  if (name.startsWith("_")) return false;
  const exports = starExports[module];
  return exports !== undefined && exports.has(name);
}

const starExports: Readonly<Record<string, ReadonlySet<string>>> = {
  torch: words(`
    tensor from_numpy zeros ones empty full rand randn randint randperm arange linspace eye zeros_like
    ones_like empty_like full_like rand_like randn_like cat concat stack chunk split where squeeze unsqueeze transpose
    permute reshape flatten matmul mm bmm einsum add sub mul div pow sqrt exp log abs sum mean std var max min argmax
    argmin topk sort clamp sigmoid softmax tanh relu norm no_grad enable_grad set_grad_enabled inference_mode autocast
    device Tensor FloatTensor LongTensor Generator Size float16 float32 float64 bfloat16 int8 int32 int64 long half
    bool uint8 save load manual_seed compile nn optim cuda autograd utils distributed amp jit hub linalg fft gather
    scatter nonzero masked_select isnan isinf is_tensor`),
  "torch.nn": words(`
    Module Sequential ModuleList ModuleDict Parameter ParameterList ParameterDict Linear Bilinear LazyLinear Identity
    Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d BatchNorm2d BatchNorm3d
    SyncBatchNorm GroupNorm LayerNorm RMSNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d Embedding EmbeddingBag RNN
    LSTM GRU RNNCell LSTMCell GRUCell Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer
    TransformerDecoderLayer MultiheadAttention Dropout Dropout1d Dropout2d Dropout3d AlphaDropout ReLU ReLU6 LeakyReLU
    PReLU GELU SiLU Mish ELU SELU CELU Sigmoid LogSigmoid Tanh Softmax LogSoftmax Softplus Hardtanh Hardswish GLU
    MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d
    AdaptiveMaxPool1d AdaptiveMaxPool2d Flatten Unflatten Upsample PixelShuffle ZeroPad2d ReflectionPad2d
    ReplicationPad2d ConstantPad2d Fold Unfold CosineSimilarity PairwiseDistance L1Loss NLLLoss KLDivLoss MSELoss
    BCELoss BCEWithLogitsLoss SmoothL1Loss HuberLoss CrossEntropyLoss CosineEmbeddingLoss MarginRankingLoss
    TripletMarginLoss CTCLoss PoissonNLLLoss GaussianNLLLoss HingeEmbeddingLoss SoftMarginLoss MultiMarginLoss
    MultiLabelMarginLoss DataParallel functional init utils parallel modules`),
  "torch.nn.functional": words(`
    relu leaky_relu gelu silu elu selu sigmoid tanh softmax log_softmax gumbel_softmax softplus dropout dropout2d
    linear conv1d conv2d conv3d conv_transpose2d max_pool1d max_pool2d avg_pool2d adaptive_avg_pool2d batch_norm
    layer_norm group_norm instance_norm embedding pad interpolate grid_sample affine_grid normalize cosine_similarity
    pairwise_distance one_hot unfold fold scaled_dot_product_attention cross_entropy binary_cross_entropy
    binary_cross_entropy_with_logits mse_loss l1_loss smooth_l1_loss huber_loss nll_loss kl_div ctc_loss
    cosine_embedding_loss margin_ranking_loss triplet_margin_loss poisson_nll_loss gaussian_nll_loss
    hinge_embedding_loss`),
  "torch.optim": words(`
    Adam AdamW Adamax Adagrad Adadelta ASGD LBFGS NAdam RAdam RMSprop Rprop SGD SparseAdam Adafactor Optimizer
    lr_scheduler swa_utils`),
  "torch.optim.lr_scheduler": words(`
    LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR SequentialLR CosineAnnealingLR
    ChainedScheduler ReduceLROnPlateau CyclicLR CosineAnnealingWarmRestarts OneCycleLR PolynomialLR LRScheduler`),
  "torch.utils.data": words(`
    DataLoader Dataset IterableDataset TensorDataset ConcatDataset ChainDataset Subset random_split Sampler
    SequentialSampler RandomSampler SubsetRandomSampler WeightedRandomSampler BatchSampler DistributedSampler
    default_collate get_worker_info`),
  "torch.autograd": words(`Variable Function grad backward no_grad enable_grad set_grad_enabled inference_mode
    gradcheck gradgradcheck detect_anomaly set_detect_anomaly functional`),
  "torchvision.models": words(`
    resnet18 resnet34 resnet50 resnet101 resnet152 vgg11 vgg13 vgg16 vgg19 alexnet densenet121 densenet161 mobilenet_v2
    mobilenet_v3_small mobilenet_v3_large efficientnet_b0 inception_v3 googlenet squeezenet1_0 squeezenet1_1
    convnext_tiny vit_b_16 swin_t`),
};
