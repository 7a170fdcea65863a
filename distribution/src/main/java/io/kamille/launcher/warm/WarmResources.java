package io.kamille.launcher.warm;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Json;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.Query;
import io.kamille.admin.auth.Scope;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.core.http.StatusCode;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** {@code /v1/cache/warm}: what is fetched before anybody asks for it. */
public final class WarmResources {

  private static final String PATH = "/v1/cache/warm";
  private static final int CONTENT_LIMIT_BYTES = 2 << 20;
  private static final int USUAL_RATE = 10;
  private static final int MOST_RATE = 1000;
  private static final String RATE = "rate must be 1 to " + MOST_RATE + " requests a second.";
  private static final String EXPECTED =
      "The content must be an object with exactly one of \"urls\" (1 to "
          + WarmUp.MOST_URLS
          + " strings) and \"purge\" (the number of a purge), and perhaps \"rate\" (1 to "
          + MOST_RATE
          + " requests a second).";

  private WarmResources() {}

  /** All of them. */
  public static List<Operation> of(WarmUp warmUp) {
    return List.of(
        Operation.post(PATH, Scope.OPERATE, "Fetches URLs, or what was purged.")
            .upTo(CONTENT_LIMIT_BYTES)
            .answers(WarmProgress.class)
            .by((request, _) -> start(warmUp, request)),
        Operation.get(PATH, Scope.READ, "How far the last warm-up has come.")
            .answers(WarmProgress.class)
            .by((request, _) -> Answer.json(warmUp.progress(request::shown))));
  }

  private static Answer start(WarmUp warmUp, AdminRequest request) throws InvalidRequest {
    JsonNode document = Json.content(request);
    int rate = Json.number(document, "rate", USUAL_RATE, MOST_RATE, RATE);
    List<String> what =
        document.propertyNames().stream().filter(name -> !name.equals("rate")).toList();
    JsonNode value = what.size() == 1 ? document.path(what.getFirst()) : document;
    boolean isStarted;
    if (value.isArray() && what.contains("urls")) {
      isStarted = warmUp.urls(urls(value), rate);
    } else if (value.canConvertToLong() && value.isIntegralNumber() && what.contains("purge")) {
      isStarted = warmUp.purged(value.longValue(), removedBy(warmUp, value.longValue()), rate);
    } else {
      throw new InvalidRequest(EXPECTED);
    }
    return isStarted
        ? Answer.json(StatusCode.ACCEPTED, warmUp.progress(request::shown))
        : Answer.problem(StatusCode.CONFLICT, "Another warm-up is under way. Wait for its end.");
  }

  private static List<PurgedUrl> removedBy(WarmUp warmUp, long purge) throws InvalidRequest {
    List<PurgedUrl> removed = warmUp.removedBy(purge);
    if (removed == null) {
      String none = "No such purge is among the last ones.";
      throw new InvalidRequest(none, Answer.problem(StatusCode.NOT_FOUND, none));
    }
    return removed;
  }

  private static List<String> urls(JsonNode values) throws InvalidRequest {
    List<String> urls = new ArrayList<>();
    for (JsonNode url : values.values()) {
      urls.add(url(url.stringValue("")));
    }
    if (urls.isEmpty() || urls.size() > WarmUp.MOST_URLS) {
      throw new InvalidRequest(EXPECTED);
    }
    return urls;
  }

  private static String url(String url) throws InvalidRequest {
    if (CacheKey.request(url) == null) {
      throw new InvalidRequest(Query.noUrl("url", url));
    }
    return url;
  }
}
