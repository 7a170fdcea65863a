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
import java.util.List;
import org.jspecify.annotations.Nullable;

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
          + " strings) and \"purge\" (the number of a purge), and perhaps \"rate\". Its "
          + RATE;

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

  private record Order(@Nullable List<String> urls, @Nullable Long purge, @Nullable Integer rate) {}

  private static Answer start(WarmUp warmUp, AdminRequest request) throws InvalidRequest {
    Order order = Json.content(request, Order.class, EXPECTED);
    int rate = Json.number(order.rate, USUAL_RATE, MOST_RATE, RATE);
    boolean isStarted;
    if (order.urls != null && order.purge == null) {
      isStarted = warmUp.urls(urls(order.urls), rate);
    } else if (order.purge != null && order.urls == null) {
      isStarted = warmUp.purged(order.purge, removedBy(warmUp, order.purge), rate);
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

  private static List<String> urls(List<String> urls) throws InvalidRequest {
    for (String url : urls) {
      if (CacheKey.request(url) == null) {
        throw new InvalidRequest(Query.noUrl("url", url));
      }
    }
    if (urls.isEmpty() || urls.size() > WarmUp.MOST_URLS) {
      throw new InvalidRequest(EXPECTED);
    }
    return urls;
  }
}
