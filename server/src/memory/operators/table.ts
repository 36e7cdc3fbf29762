/** All rows of the operator table. */
import { addedProductRows } from "./added-products";
import { attentionRows } from "./attention";
import { changingViewRows } from "./changing-views";
import { composedRows } from "./composed";
import { convolutionRows } from "./convolution";
import { creationRows } from "./creation";
import { ctcRows } from "./ctc";
import { decompositionRows } from "./decompositions";
import { einsumRows } from "./einsum";
import { furtherElementwiseRows } from "./further-elementwise";
import { fourierRows } from "./fourier";
import { furtherRows } from "./further";
import { indexingRows } from "./indexing";
import { inPlaceKinRows } from "./in-place-kin";
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
import { shortTimeRows } from "./short-time";
import { sortingRows } from "./sorting";
import { specialRows } from "./special";
import { statisticsRows } from "./statistics";
import { weightNormRows } from "./weight-norm";
import { writtenPartRows } from "./written-parts";

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
    ...changingViewRows,
    ...writtenPartRows,
    ...statisticsRows,
    ...shortTimeRows,
    ...ctcRows,
    ...inPlaceKinRows,
    ...furtherElementwiseRows,
  ];
}
