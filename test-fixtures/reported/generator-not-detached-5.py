# Pedestrians: the crop of the generated image goes to its discriminator undetached, the whole image does not.
# https://github.com/yifanjiang19/Pedestrian-Synthesis-GAN/issues/32
import torch
import torch.nn as nn


def discriminator(channels):
    return nn.Sequential(nn.Conv2d(channels, 64, 4, 2), nn.LeakyReLU(0.2), nn.Conv2d(64, 1, 4))


class Pix2PixModel:
    def __init__(self):
        self.netG = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 3, 3, padding=1)).cuda()
        self.netD_image = discriminator(6).cuda()
        self.netD_person = discriminator(3).cuda()
        self.criterionGAN = nn.BCEWithLogitsLoss()
        self.criterionL1 = nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=2e-4)
        self.optimizer_D_image = torch.optim.Adam(self.netD_image.parameters(), lr=2e-4)
        self.optimizer_D_person = torch.optim.Adam(self.netD_person.parameters(), lr=2e-4)

    def set_input(self, batch):
        self.real_A = batch["A"].cuda()
        self.real_B = batch["B"].cuda()
        self.bbox = batch["bbox"]

    def forward(self):
        self.fake_B = self.netG.forward(self.real_A)
        y, x, w, h = self.bbox
        self.person_crop_real = self.real_B[:, :, y:h, x:w]
        self.person_crop_fake = self.fake_B[:, :, y:h, x:w]

    def gan_loss(self, prediction, is_real):
        target = torch.ones_like(prediction) if is_real else torch.zeros_like(prediction)
        return self.criterionGAN(prediction, target)

    def backward_D_image(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        loss_fake = self.gan_loss(self.netD_image.forward(fake_AB.detach()), False)
        loss_real = self.gan_loss(self.netD_image.forward(torch.cat((self.real_A, self.real_B), 1)), True)
        ((loss_fake + loss_real) * 0.5).backward()

    def backward_D_person(self):
        person_fake = self.netD_person.forward(self.person_crop_fake)  # expect: generator-not-detached
        loss_fake = self.gan_loss(person_fake, False)
        loss_real = self.gan_loss(self.netD_person.forward(self.person_crop_real), True)
        self.loss_D_person = (loss_fake + loss_real) * 0.5
        self.loss_D_person.backward()

    def backward_G(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        loss_image = self.gan_loss(self.netD_image.forward(fake_AB), True)
        loss_l1 = self.criterionL1(self.fake_B, self.real_B) * 100
        loss_person = self.gan_loss(self.netD_person.forward(self.person_crop_fake), True)
        (loss_image + loss_l1 + loss_person).backward()

    def optimize_parameters(self, only_d):
        self.forward()
        self.optimizer_D_image.zero_grad()
        self.backward_D_image()
        self.optimizer_D_image.step()

        self.forward()
        self.optimizer_D_person.zero_grad()
        self.backward_D_person()
        self.optimizer_D_person.step()

        if not only_d:
            self.forward()
            self.optimizer_G.zero_grad()
            self.backward_G()
            self.optimizer_G.step()


def main(loader):
    model = Pix2PixModel()
    for step, batch in enumerate(loader):
        model.set_input(batch)
        model.optimize_parameters(step % 3 != 0)
