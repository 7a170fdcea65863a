package io.kamille.admin.api;

import io.kamille.admin.api.JsonContent.Invalid;
import io.kamille.admin.view.ApplianceView;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/** {@code POST /v1/cache/purges}: removes what is stored for a URL. */
final class Purges implements Resource {

  private static final String EXPECTED = "{\"url\": \"http://host/path\"}";

  private final ApplianceView appliance;

  Purges(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public String path() {
    return "/v1/cache/purges";
  }

  @Override
  public String method() {
    return "POST";
  }

  @Override
  public Answer answer(AdminRequest request) {
    return JsonContent.answer(
        request, document -> Answer.json(new Purged(appliance.purge(url(document)))));
  }

  private record Purged(int purged) {}

  private static String url(JsonNode document) throws Invalid {
    JsonNode url = document.get("url");
    if (!document.isObject() || document.size() != 1 || url == null || !url.isString()) {
      throw new Invalid("The content must be an object with one member: " + EXPECTED + ".");
    }
    return checked(url.stringValue());
  }

  private static String checked(String url) throws Invalid {
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException malformed) {
      throw new Invalid("url is not a URI: " + malformed.getReason() + ".");
    }
    String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https")) {
      throw new Invalid("url must begin with http:// or https://.");
    }
    if (uri.getHost() == null || uri.getRawUserInfo() != null) {
      throw new Invalid("url must have a host and no user information.");
    }
    if (uri.getRawFragment() != null) {
      throw new Invalid("url must have no fragment: it is never sent in a request.");
    }
    return url;
  }
}
