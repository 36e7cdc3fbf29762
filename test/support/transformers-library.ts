/**
 * A package laid out as transformers is, with one small model: decorated forwards, layers that can be checkpointed, masks,
 * a cache, outputs that are dicts and dataclasses, losses by the class's name. Its own words; the bases under it
 * (`PreTrainedModel`, `ModelOutput`, decorators) are those that vramlint has instead of the library's.
 */
const late = (names: string): string => `from typing import TYPE_CHECKING
if TYPE_CHECKING:
${names.replace(/^/gm, "    ")}
else:
    import sys
    sys.modules[__name__] = _LazyModule(__name__)
`;

const configuration = `from ...configuration_utils import PreTrainedConfig
class TinyConfig(PreTrainedConfig):
    model_type = "tiny"
    vocab_size: int = 100
    hidden_size: int = 16
    num_hidden_layers: int = 2
    num_attention_heads: int = 2
    use_cache: bool = True
    is_decoder: bool = False
`;

const modeling = `import torch
from torch import nn
from ...cache_utils import DynamicCache
from ...masking_utils import make_mask
from ...modeling_layers import GradientCheckpointingLayer
from ...modeling_outputs import LogitsOutput, StatesOutput
from ...modeling_utils import ALL_ATTENTION_FUNCTIONS, PreTrainedModel
from ...utils import auto_docstring
from ...utils.deprecation import deprecate_kwarg
from ...utils.generic import can_return_tuple, merge_with_config_defaults
from ...utils.output_capturing import capture_outputs
from .configuration_tiny import TinyConfig

def eager_attention_forward(module, query, key, value, attention_mask, **kwargs):
    weights = query @ key.transpose(2, 3)
    if attention_mask is not None:
        weights = weights + attention_mask
    weights = nn.functional.softmax(weights, dim=-1)
    return (weights @ value).transpose(1, 2).contiguous(), weights

class TinyAttention(nn.Module):
    is_causal = False
    def __init__(self, config, layer_idx):
        super().__init__()
        self.config = config
        self.layer_idx = layer_idx
        self.qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.out = nn.Linear(config.hidden_size, config.hidden_size)
    @deprecate_kwarg("past_key_values", "9.0", new_name="cache")
    def forward(self, hidden_states, attention_mask=None, cache=None, **kwargs):
        batch, length, width = hidden_states.shape
        query, key, value = (
            part.view(batch, length, self.config.num_attention_heads, -1).transpose(1, 2)
            for part in self.qkv(hidden_states).split(width, dim=-1)
        )
        if cache is not None:
            key, value = cache.update(key, value, self.layer_idx)
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, eager_attention_forward)
        states, weights = attend(self, query, key, value, attention_mask, **kwargs)
        return self.out(states.reshape(batch, length, width)), weights

class TinyLayer(GradientCheckpointingLayer):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.attention = TinyAttention(config, layer_idx)
        self.norm = nn.LayerNorm(config.hidden_size)
    def forward(self, hidden_states, attention_mask=None, cache=None, **kwargs):
        states, _ = self.attention(self.norm(hidden_states), attention_mask=attention_mask, cache=cache, **kwargs)
        return hidden_states + states

@auto_docstring
class TinyPreTrainedModel(PreTrainedModel):
    config: TinyConfig
    base_model_prefix = "tiny"
    supports_gradient_checkpointing = True
    _supports_sdpa = True
    _can_record_outputs = {"hidden_states": TinyLayer}

@auto_docstring
class TinyModel(TinyPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.gradient_checkpointing = False
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([TinyLayer(config, i) for i in range(config.num_hidden_layers)])
        self.post_init()
    def get_input_embeddings(self):
        return self.words
    @merge_with_config_defaults
    @capture_outputs
    @auto_docstring
    def forward(self, input_ids=None, attention_mask=None, cache=None, use_cache=None, **kwargs):
        hidden_states = self.words(input_ids)
        if use_cache and self.config.is_decoder and cache is None:
            cache = DynamicCache(config=self.config)
        mask = make_mask(self.config, hidden_states, attention_mask)
        for layer in self.layers:
            hidden_states = layer(hidden_states, attention_mask=mask, cache=cache, use_cache=use_cache, **kwargs)
        return StatesOutput(last_hidden_state=hidden_states, cache=cache)

@auto_docstring(custom_intro="a head")
class TinyForSequenceClassification(TinyPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.tiny = TinyModel(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()
    @can_return_tuple
    @auto_docstring
    def forward(self, input_ids=None, attention_mask=None, labels=None, **kwargs):
        outputs = self.tiny(input_ids, attention_mask=attention_mask, **kwargs)
        logits = self.classifier(outputs[0][:, 0])
        loss = None
        if labels is not None:
            loss = self.loss_function(labels=labels, pooled_logits=logits, config=self.config)
        return LogitsOutput(loss=loss, logits=logits, cache=outputs.cache)
`;

export const transformersLibrary: Readonly<Record<string, string>> = {
  "transformers-5.24.0.dist-info/METADATA":
    "Name: transformers\nRequires-Dist: torch>=2.4; extra == 'torch'\n",
  "transformers/__init__.py": `__version__ = "5.24.0"\n${late("from .models import *")}`,
  "transformers/models/__init__.py": late("from .tiny import *"),
  "transformers/models/tiny/__init__.py": late(
    "from .configuration_tiny import *\nfrom .modeling_tiny import *",
  ),
  "transformers/models/tiny/configuration_tiny.py": configuration,
  "transformers/models/tiny/modeling_tiny.py": modeling,
  "transformers/integrations/__init__.py": "",
  "transformers/integrations/sdpa_attention.py": `import torch
def sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs):
    states = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=attention_mask)
    return states.transpose(1, 2).contiguous(), None
`,
  "transformers/masking_utils.py": `import torch
from .utils.generic import GeneralInterface
from .utils.import_utils import is_torch_flex_attn_available
if is_torch_flex_attn_available():
    from torch.nn.attention.flex_attention import BlockMask
else:
    BlockMask = torch.Tensor
def padding_rule(padding):
    def allowed(row, key):
        return padding[row, key]
    return allowed
def _ignore_bidirectional_mask_sdpa(padding_mask, kv_length, local_attention_size=None):
    return padding_mask is None or padding_mask.all()
def boolean_mask(padding, shape):
    if _ignore_bidirectional_mask_sdpa(padding, shape[1]):
        return None
    rule = padding_rule(padding)
    mask = rule(torch.arange(shape[0])[:, None, None, None], torch.arange(shape[1])[None, None, None, :])
    return mask.expand(shape[0], -1, shape[1], shape[1])
def number_mask(padding, shape):
    mask = boolean_mask(padding, shape)
    return None if mask is None else torch.where(mask, torch.zeros(()), torch.finfo(torch.float32).min)
class MaskInterface(GeneralInterface):
    _global_mapping = {"sdpa": boolean_mask, "eager": number_mask}
MASKS = MaskInterface()
def make_mask(config, states, attention_mask):
    if isinstance(attention_mask, (torch.Tensor, BlockMask)) and attention_mask.ndim == 4:
        return attention_mask
    if config._attn_implementation not in MASKS._global_mapping:
        return None
    if attention_mask is not None:
        attention_mask = attention_mask.to(dtype=torch.bool)
    return MASKS[config._attn_implementation](attention_mask, states.shape[:2])
`,
  "transformers/cache_utils.py": `import torch
class DynamicLayer:
    def __init__(self):
        self.keys = self.values = None
    def update(self, key, value):
        if self.keys is None:
            self.keys = torch.tensor([], dtype=key.dtype)
            self.values = torch.tensor([], dtype=value.dtype)
        self.keys = torch.cat([self.keys, key], dim=-2)
        self.values = torch.cat([self.values, value], dim=-2)
        return self.keys, self.values
class DynamicCache:
    def __init__(self, config):
        self.layers = [DynamicLayer() for _ in config.per_layer_config]
    def update(self, key, value, layer_idx):
        return self.layers[layer_idx].update(key, value)
`,
  "transformers/modeling_layers.py": `import torch
from functools import partial, wraps
from torch import nn
from .utils import logging
logger = logging.get_logger(__name__)
class GradientCheckpointingLayer(nn.Module):
    gradient_checkpointing = False
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        forward = cls.forward
        @wraps(forward)
        def checked(self, *args, **kwargs):
            if self.gradient_checkpointing and self.training and torch.is_grad_enabled():
                if kwargs.get("cache") is not None:
                    logger.warning_once("no cache")
                    kwargs["cache"] = None
                return self._gradient_checkpointing_func(partial(forward, self, **kwargs), *args)
            return forward(self, *args, **kwargs)
        cls.forward = checked
`,
  "transformers/modeling_outputs.py": `from dataclasses import dataclass
from .utils import ModelOutput
@dataclass
class StatesOutput(ModelOutput):
    last_hidden_state: object = None
    cache: object = None
@dataclass
class LogitsOutput(ModelOutput):
    loss: object = None
    logits: object = None
    cache: object = None
`,
  "transformers/loss/__init__.py": "",
  "transformers/loss/loss_utils.py": `from torch import nn
def sequence_loss(labels, pooled_logits, config, **kwargs):
    if config.problem_type is None:
        config.problem_type = "single_label_classification"
    return nn.functional.cross_entropy(pooled_logits.view(-1, config.num_labels), labels.view(-1))
LOSS_MAPPING = {"ForSequenceClassification": sequence_loss}
`,
};

/** The same model without a library, as somebody would write it out. */
export const writtenOut = `import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
KIND = "KIND"
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        if "lora" in KIND:
            self.down = nn.Linear(16, 4, bias=False)
            self.up = nn.Linear(4, 48, bias=False)
    def forward(self, hidden_states, mask, cache):
        batch, length, width = hidden_states.shape
        query, key, value = (part.view(batch, length, 2, -1).transpose(1, 2) for part in self.project(hidden_states).split(width, dim=-1))
        if cache is not None:
            key, value = key.clone(), value.clone()
            cache.append((key, value))
        if KIND == "eager":
            weights = query @ key.transpose(2, 3)
            if mask is not None:
                weights = weights + mask
            weights = nn.functional.softmax(weights, dim=-1)
            states = (weights @ value).transpose(1, 2).contiguous()
        else:
            states = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            states = states.transpose(1, 2).contiguous()
        return self.out(states.reshape(batch, length, width))
    def project(self, x):
        result = self.qkv(x)
        if "lora" in KIND:
            result = result + self.up(self.down(nn.functional.dropout(x, 0.1, True))) * 2.0
        return result
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.norm = nn.LayerNorm(16)
    def forward(self, hidden_states, mask, cache):
        return hidden_states + self.attention(self.norm(hidden_states), mask, cache)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 16)
        self.layers = nn.ModuleList([Layer() for _ in range(2)])
        self.classifier = nn.Linear(16, 2)
        if "lora" in KIND:
            for parameter in self.parameters():
                parameter.requires_grad = False
            for layer in self.layers:
                layer.attention.down.weight.requires_grad = True
                layer.attention.up.weight.requires_grad = True
            self.original = self.classifier
            self.classifier = nn.Linear(16, 2)
    def forward(self, input_ids=None, attention_mask=None, labels=None):
        hidden_states = self.words(input_ids)
        mask = None
        if attention_mask is not None:
            padding = attention_mask.to(dtype=torch.bool)
            batch, length = input_ids.shape
            mask = padding[torch.arange(batch)[:, None, None, None], torch.arange(length)[None, None, None, :]]
            mask = mask.expand(batch, -1, length, length)
            del padding
            if KIND == "eager":
                mask = torch.where(mask, torch.zeros(()), torch.finfo(torch.float32).min)
        cache = [] if KIND == "cached" else None
        for layer in self.layers:
            if "checkpointed" in KIND:
                hidden_states = checkpoint(layer, hidden_states, mask, cache, use_reentrant=False)
            else:
                hidden_states = layer(hidden_states, mask, cache)
        logits = self.classifier(hidden_states[:, 0])
        loss = nn.functional.cross_entropy(logits.view(-1, 2), labels.view(-1))
        if "trained" in KIND:
            copy = logits.float()
            return loss
        return {"loss": loss, "logits": logits, "cache": cache}
`;
