"""The steps of one sequence: the state holds the graph whatever is kept of the outputs."""
import torch


def transcribe(encoder, decoder, tokens, max_length):
    hidden = encoder.initial_state()
    outputs = torch.zeros(max_length, encoder.hidden_size)
    for step in range(tokens.size(0)):
        output, hidden = encoder(tokens[step], hidden)
        outputs[step] = output[0, 0]
    words = []
    for _ in range(max_length):
        output, hidden = decoder(outputs, hidden)
        words.append(output.argmax().item())
    return words
