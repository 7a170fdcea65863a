package io.kamille.core.auth;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jose4j.jwk.JsonWebKey;
import org.jspecify.annotations.Nullable;

/** Keys behind a URL. They are fetched now and then, and earlier if there is doubt. */
final class JwksUrl extends AuthSource<List<JsonWebKey>> {

  /*
   * Tokens never cause a fetch of their own: one with an unknown key leaves a doubt, and a look
   * fetches if the last fetch is long enough ago. A fetch that fails leaves what there is, and a
   * doubt. If doubts go on, the time between fetches doubles from a second to half a minute.
   */
  static final int FETCH_SECONDS = 300;
  static final int DOUBT_SECONDS = 30;
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private final HttpClient client = HttpClient.newBuilder().connectTimeout(DEADLINE).build();
  private final HttpRequest request;
  // Volatile: set on any thread, read by whoever looks.
  volatile boolean isDoubtful;

  /** Since the last fetch; a look comes each second. */
  private int looks = FETCH_SECONDS;

  /** Fetches for a doubt, one after the other. */
  private int doubts;

  JwksUrl(String url, Parser<List<JsonWebKey>> parser) {
    super(url, () -> null, parser);
    request = HttpRequest.newBuilder(URI.create(url)).build();
  }

  @Override
  void doubt() {
    isDoubtful = true;
  }

  @Override
  void poll() {
    looks++;
    int doubtful = doubts < 5 ? 1 << doubts : DOUBT_SECONDS;
    if (looks > (isDoubtful ? doubtful : FETCH_SECONDS)) {
      doubts = isDoubtful ? doubts + 1 : 0;
      looks = 1;
      isDoubtful = false;
      var fetch =
          client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), LIMIT_BYTES));
      // A copy ends in time; the fetch itself must end with it.
      fetch
          .copy()
          .orTimeout(DEADLINE.toSeconds(), TimeUnit.SECONDS)
          .whenComplete(
              (response, trouble) -> {
                fetch.cancel(true);
                fetched(response, trouble);
              });
    }
  }

  private void fetched(@Nullable HttpResponse<byte[]> response, @Nullable Throwable trouble) {
    try {
      if (response == null) {
        throw new IOException("it cannot be fetched: " + words(trouble));
      }
      if (response.statusCode() != 200) {
        throw new IOException("status code " + response.statusCode() + " (expected: 200)");
      }
      take(response.body());
    } catch (IOException wrong) {
      doubt();
      keep(String.valueOf(wrong.getMessage()));
    }
  }

  static String words(@Nullable Throwable trouble) {
    Throwable cause = trouble instanceof CompletionException ? trouble.getCause() : trouble;
    return switch (cause) {
      case ConnectException _ -> "no connection";
      case TimeoutException _ -> "no answer in " + DEADLINE.toSeconds() + " s";
      case IOException told -> String.valueOf(told.getMessage());
      case null, default -> String.valueOf(cause);
    };
  }
}
