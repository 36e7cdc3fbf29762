import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

table = pd.read_csv("houses.csv")
columns = ["area", "rooms", "age"]
x_train, x_test, y_train, y_test = train_test_split(table[columns].values, table["price"].values, test_size=0.25)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)
x = torch.tensor(x_train, dtype=torch.float32)
y = torch.tensor(y_train, dtype=torch.float32).view(-1, 1)
model = nn.Sequential(nn.Linear(x.shape[1], 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
for inputs, prices in DataLoader(TensorDataset(x, y), batch_size=6, shuffle=True):
    loss = nn.functional.mse_loss(model(inputs), prices)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
