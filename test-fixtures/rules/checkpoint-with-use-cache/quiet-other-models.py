import argparse

import torch
from transformers import AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--checkpointing", action="store_true")
args = parser.parse_args()

student = AutoModelForCausalLM.from_pretrained("gpt2", use_cache=not args.checkpointing)
teacher = AutoModelForCausalLM.from_pretrained("gpt2-large", use_cache=True)
student.gradient_checkpointing_enable()

third = AutoModelForCausalLM.from_pretrained("gpt2")
if args.checkpointing:
    third.gradient_checkpointing_enable()
else:
    third.config.use_cache = True

print(torch.cuda.device_count())
