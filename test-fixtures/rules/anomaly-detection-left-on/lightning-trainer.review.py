import lightning as L
from data import Data
from net import Net


def main():
    trainer = L.Trainer(  # expect: anomaly-detection-left-on
        max_epochs=10,
        accelerator="gpu",  # the loss was NaN once
        precision="16-mixed",
    )
    trainer.fit(Net(), datamodule=Data())


if __name__ == "__main__":
    main()
