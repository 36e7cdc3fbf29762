import torch
if a == 0:
    pass
elif a == 1:
    torch.no_grad()
elif a == 2:
    torch.no_grad()
elif a == 3:
    torch.no_grad()
elif a == 4:
    torch.no_grad()
elif a == 5:
    torch.no_grad()
elif a == 6:
    torch.no_grad()
elif a == 7:
    torch.no_grad()
elif a == 8:
    torch.no_grad()
elif a == 9:
    torch.no_grad()
elif a == 10:
    torch.no_grad()
elif a == 11:
    torch.no_grad()
elif a == 12:
    torch.no_grad()
elif a == 13:
    torch.no_grad()
elif a == 14:
    torch.no_grad()
elif a == 15:
    torch.no_grad()
elif a == 16:
    torch.no_grad()
elif a == 17:
    torch.no_grad()
elif a == 18:
    torch.no_grad()
elif a == 19:
    torch.no_grad()
elif a == 20:
    torch.no_grad()
elif a == 21:
    torch.no_grad()
elif a == 22:
    torch.no_grad()
elif a == 23:
    torch.no_grad()
elif a == 24:
    torch.no_grad()
elif a == 25:
    torch.no_grad()
elif a == 26:
    torch.no_grad()
elif a == 27:
    torch.no_grad()
elif a == 28:
    torch.no_grad()
elif a == 29:
    torch.no_grad()
elif a == 30:
    torch.no_grad()
elif a == 31:
    torch.no_grad()
elif a == 32:
    torch.no_grad()
elif a == 33:
    torch.no_grad()
elif a == 34:
    torch.no_grad()
elif a == 35:
    torch.no_grad()
elif a == 36:
    torch.no_grad()
elif a == 37:
    torch.no_grad()
elif a == 38:
    torch.no_grad()
elif a == 39:
    torch.no_grad()
elif a == 40:
    torch.no_grad()
elif a == 41:
    torch.no_grad()
elif a == 42:
    torch.no_grad()
elif a == 43:
    torch.no_grad()
elif a == 44:
    torch.no_grad()
elif a == 45:
    torch.no_grad()
elif a == 46:
    torch.no_grad()
elif a == 47:
    torch.no_grad()
elif a == 48:
    torch.no_grad()
elif a == 49:
    torch.no_grad()
elif a == 50:
    torch.no_grad()
elif a == 51:
    torch.no_grad()
elif a == 52:
    torch.no_grad()
elif a == 53:
    torch.no_grad()
elif a == 54:
    torch.no_grad()
elif a == 55:
    torch.no_grad()
elif a == 56:
    torch.no_grad()
elif a == 57:
    torch.no_grad()
elif a == 58:
    torch.no_grad()
elif a == 59:
    torch.no_grad()
elif a == 60:
    torch.no_grad()
elif a == 61:
    torch.no_grad()
elif a == 62:
    torch.no_grad()
elif a == 63:
    torch.no_grad()
elif a == 64:
    torch.no_grad()
elif a == 65:
    torch.no_grad()
elif a == 66:
    torch.no_grad()
elif a == 67:
    torch.no_grad()
elif a == 68:
    torch.no_grad()
elif a == 69:
    torch.no_grad()
elif a == 70:
    torch.no_grad()
elif a == 71:
    torch.no_grad()
elif a == 72:
    torch.no_grad()
elif a == 73:
    torch.no_grad()
elif a == 74:
    torch.no_grad()
elif a == 75:
    torch.no_grad()
elif a == 76:
    torch.no_grad()
elif a == 77:
    torch.no_grad()
elif a == 78:
    torch.no_grad()
elif a == 79:
    torch.no_grad()
elif a == 80:
    torch.no_grad()
elif a == 81:
    torch.no_grad()
elif a == 82:
    torch.no_grad()
elif a == 83:
    torch.no_grad()
elif a == 84:
    torch.no_grad()
elif a == 85:
    torch.no_grad()
elif a == 86:
    torch.no_grad()
elif a == 87:
    torch.no_grad()
elif a == 88:
    torch.no_grad()
elif a == 89:
    torch.no_grad()
elif a == 90:
    torch.no_grad()
elif a == 91:
    torch.no_grad()
elif a == 92:
    torch.no_grad()
elif a == 93:
    torch.no_grad()
elif a == 94:
    torch.no_grad()
elif a == 95:
    torch.no_grad()
elif a == 96:
    torch.no_grad()
elif a == 97:
    torch.no_grad()
elif a == 98:
    torch.no_grad()
elif a == 99:
    torch.no_grad()
elif a == 100:
    torch.no_grad()
elif a == 101:
    torch.no_grad()
elif a == 102:
    torch.no_grad()
elif a == 103:
    torch.no_grad()
elif a == 104:
    torch.no_grad()
elif a == 105:
    torch.no_grad()
elif a == 106:
    torch.no_grad()
elif a == 107:
    torch.no_grad()
elif a == 108:
    torch.no_grad()
elif a == 109:
    torch.no_grad()
elif a == 110:
    torch.no_grad()
elif a == 111:
    torch.no_grad()
elif a == 112:
    torch.no_grad()
elif a == 113:
    torch.no_grad()
elif a == 114:
    torch.no_grad()
elif a == 115:
    torch.no_grad()
elif a == 116:
    torch.no_grad()
elif a == 117:
    torch.no_grad()
elif a == 118:
    torch.no_grad()
elif a == 119:
    torch.no_grad()
elif a == 120:
    torch.no_grad()
elif a == 121:
    torch.no_grad()
elif a == 122:
    torch.no_grad()
elif a == 123:
    torch.no_grad()
elif a == 124:
    torch.no_grad()
elif a == 125:
    torch.no_grad()
elif a == 126:
    torch.no_grad()
elif a == 127:
    torch.no_grad()
elif a == 128:
    torch.no_grad()
elif a == 129:
    torch.no_grad()
elif a == 130:
    torch.no_grad()
elif a == 131:
    torch.no_grad()
elif a == 132:
    torch.no_grad()
elif a == 133:
    torch.no_grad()
elif a == 134:
    torch.no_grad()
elif a == 135:
    torch.no_grad()
elif a == 136:
    torch.no_grad()
elif a == 137:
    torch.no_grad()
elif a == 138:
    torch.no_grad()
elif a == 139:
    torch.no_grad()
elif a == 140:
    torch.no_grad()
elif a == 141:
    torch.no_grad()
elif a == 142:
    torch.no_grad()
elif a == 143:
    torch.no_grad()
elif a == 144:
    torch.no_grad()
elif a == 145:
    torch.no_grad()
elif a == 146:
    torch.no_grad()
elif a == 147:
    torch.no_grad()
elif a == 148:
    torch.no_grad()
elif a == 149:
    torch.no_grad()
