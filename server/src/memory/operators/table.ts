/** All rows of the operator table. */
import { addedProductRows } from "./added-products";
import { attentionRows } from "./attention";
import { composedRows } from "./composed";
import { convolutionRows } from "./convolution";
import { creationRows } from "./creation";
import { decompositionRows } from "./decompositions";
import { einsumRows } from "./einsum";
import { fourierRows } from "./fourier";
import { furtherRows } from "./further";
import { indexingRows } from "./indexing";
import { joiningRows } from "./joining";
import { lossRows } from "./losses";
import { matrixRows } from "./matrix";
import { normalisationRows } from "./normalisation";
import type { OperatorRow } from "./operator";
import { paddingRows } from "./padding";
import { pointwiseRows } from "./pointwise-calls";
import { poolingRows } from "./pooling";
import { queryRows } from "./queries";
import { recurrentRows } from "./recurrent";
import { reductionRows } from "./reductions";
import { scatteringRows } from "./scattering";
import { shapeRows } from "./shape";
import { sortingRows } from "./sorting";
import { specialRows } from "./special";
import { weightNormRows } from "./weight-norm";

export function operatorRows(): readonly OperatorRow[] {
  return [
    ...pointwiseRows,
    ...matrixRows,
    ...einsumRows,
    ...shapeRows,
    ...joiningRows,
    ...convolutionRows,
    ...paddingRows,
    ...poolingRows,
    ...reductionRows,
    ...sortingRows,
    ...normalisationRows,
    ...weightNormRows,
    ...indexingRows,
    ...scatteringRows,
    ...creationRows,
    ...attentionRows,
    ...lossRows,
    ...recurrentRows,
    ...queryRows,
    ...fourierRows,
    ...furtherRows,
    ...specialRows,
    ...composedRows,
    ...addedProductRows,
    ...decompositionRows,
  ];
}
