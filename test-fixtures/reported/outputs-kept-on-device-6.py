# Features for a metric over a whole data set; the extractor gives a list of feature maps.
# https://github.com/photosynthesis-team/piq/pull/325
import torch
import torchvision


class BaseFeatureMetric(torch.nn.Module):
    @torch.no_grad()
    def compute_feats(self, loader, feature_extractor=None, device="cuda"):
        if feature_extractor is None:
            feature_extractor = torchvision.models.inception_v3(weights="DEFAULT", aux_logits=True)
            feature_extractor.fc = torch.nn.Identity()
        else:
            assert isinstance(feature_extractor, torch.nn.Module)
        feature_extractor.to(device)
        feature_extractor.eval()

        total_feats = []
        for batch in loader:
            images = batch["images"]
            N = images.shape[0]
            images = images.float().to(device)
            features = feature_extractor(images)
            total_feats.append(features.view(N, -1))  # expect: outputs-kept-on-device
        return torch.cat(total_feats, dim=0)
