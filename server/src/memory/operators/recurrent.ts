/** Recurrent layers and cells: aten/src/ATen/native/RNN.cpp; on CUDA the layers are one cuDNN kernel. */
import type { OperatorRow } from "./operator";

export const recurrentRows: readonly OperatorRow[] = [];
