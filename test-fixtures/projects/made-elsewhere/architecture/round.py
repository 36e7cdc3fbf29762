from architecture.circle import model

other = model
