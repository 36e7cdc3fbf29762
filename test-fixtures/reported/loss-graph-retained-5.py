# The mean of the validation loss is summed as a tensor, in a class whose methods are all static; eval() was thought enough.
# https://github.com/zoogzog/chexnet/issues/12
import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torchvision.models import densenet121


class ChexnetTrainer:
    @staticmethod
    def train(dataLoaderTrain, dataLoaderVal, trMaxEpoch):
        model = torch.nn.DataParallel(densenet121(num_classes=14)).cuda()
        optimizer = optim.Adam(model.parameters(), lr=0.0001)
        scheduler = ReduceLROnPlateau(optimizer, factor=0.1, patience=5, mode="min")
        loss = torch.nn.BCEWithLogitsLoss()
        for epochID in range(trMaxEpoch):
            ChexnetTrainer.epochTrain(model, dataLoaderTrain, optimizer, loss)
            lossVal, losstensor = ChexnetTrainer.epochVal(model, dataLoaderVal, loss)
            scheduler.step(losstensor.item())

    @staticmethod
    def epochTrain(model, dataLoader, optimizer, loss):
        model.train()
        for batchID, (input, target) in enumerate(dataLoader):
            varOutput = model(input.cuda())
            lossvalue = loss(varOutput, target.cuda())
            optimizer.zero_grad()
            lossvalue.backward()
            optimizer.step()

    @staticmethod
    def epochVal(model, dataLoader, loss):
        model.eval()
        lossVal = 0
        lossValNorm = 0
        losstensorMean = 0
        for i, (input, target) in enumerate(dataLoader):
            varOutput = model(input.cuda())  # expect: eval-without-no-grad
            losstensor = loss(varOutput, target.cuda())
            losstensorMean += losstensor  # expect: loss-graph-retained
            lossVal += losstensor.item()
            lossValNorm += 1
        return lossVal / lossValNorm, losstensorMean / lossValNorm
