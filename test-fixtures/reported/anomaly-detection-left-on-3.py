# Form of https://github.com/Lightning-AI/pytorch-lightning/issues/17359: forgotten after debugging, 2.5 times slower.
import pytorch_lightning as pl

from module import Data, Model

trainer = pl.Trainer(max_epochs=100, detect_anomaly=True)  # expect: anomaly-detection-left-on
trainer.fit(Model(), Data())
