package io.kamille.launcher.chain;

import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.Reason;
import io.kamille.core.answer.FileHandler;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.UpstreamGroup;
import io.kamille.core.origin.choose.StickyCookie;
import io.kamille.core.origin.wire.RequestHeadWriter;
import io.kamille.core.setting.ByteSize;
import io.kamille.core.setting.TimeSpan;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RequestTest;
import io.kamille.launcher.configuration.RouteActions;
import io.kamille.launcher.configuration.RouteSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The end of a route: an upstream, or an answer of our own. */
record TargetStation(RouteSettings route, Configuration configuration) implements Station {

  @Override
  public String describe() {
    return (route.upstream() == null ? "" : "upstream ") + nameOf(route);
  }

  /** What the API calls the end of a route. */
  static String nameOf(RouteSettings route) {
    RouteActions actions = route.actions();
    if (route.upstream() != null) {
      return route.upstream();
    }
    if (actions.redirect().isOn()) {
      return "redirect";
    }
    return actions.respond().isOn() ? "respond" : "root";
  }

  /** The end itself: {@code next} gets nothing. */
  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    RouteActions actions = route.actions();
    if (link.isOther()) {
      String name = Objects.requireNonNull(actions.split().upstream(), "split.upstream");
      return link.marked(link.ways().handler(name, route));
    }
    if (route.upstream() != null) {
      return link.marked(link.ways().handler(route));
    }
    if (actions.redirect().isOn()) {
      return actions.redirect();
    }
    if (actions.respond().isOn()) {
      return actions.respond().answering(content(actions));
    }
    return new FileHandler(
        Objects.requireNonNull(actions.root(), "root"), link.parts().files(), link.parts().clock());
  }

  private static byte[] content(RouteActions actions) {
    try {
      return actions.respond().content();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable.getMessage(), unreadable);
    }
  }

  @Override
  public void judge(Passage passage) {
    if (route.upstream() == null) {
      answer(passage);
    } else {
      forward(passage);
    }
  }

  private void answer(Passage passage) {
    RouteActions actions = route.actions();
    ResponseHead head = null;
    if (actions.redirect().isOn()) {
      head = actions.redirect().head(passage.request());
    } else if (actions.respond().isOn()) {
      head = actions.respond().head(true);
    }
    passage.answer(
        nameOf(route),
        head,
        new Reason(
            "own-answer",
            "RFC 9110 §3.6",
            "routes[]." + nameOf(route),
            "Kamille answers, and asks no origin"));
  }

  private void forward(Passage passage) {
    if (!route.isCached()) {
      Reason off =
          new Reason(
              "cache-off",
              "RFC 9111 §2",
              "routes[].cache.enabled: off",
              "it is forwarded, and nothing is stored");
      if (passage.isOpen()) {
        passage.decide(Decision.PASS, off);
      }
      passage.find(RequestTest.CACHE, RequestTest.OFF, passage.deciding());
    }
    waiting(passage);
    String so = "a response head that comes later is answered with 504";
    timeout("head-timeout", route.limits().headTimeout(), so, passage);
    timeout("content-timeout", route.limits().contentTimeout(), "a longer pause ends it", passage);
    if (passage.isTest()) {
      arrive(passage);
    }
  }

  /** What the upstream gets. */
  private void arrive(Passage passage) {
    RequestHead passed = passage.request();
    Reason because = passage.isOther() ? passage.deciding() : null;
    passage.find(RequestTest.UPSTREAM, upstream(passage), because);
    passage.find(RequestTest.PATH, passed.pathAndQuery(), null);
    ForwardingSettings forwarding =
        configuration.forwarding().ofRoute(route.hostRewrite(), route.upgrades());
    Fields sent =
        new RequestHeadWriter(forwarding, new HeadWriter())
            .sent(passed, socket(passage.client()), socket(passage.peer()));
    passage.arrive(sent);
  }

  private String upstream(Passage passage) {
    String name = passage.isOther() ? route.actions().split().upstream() : route.upstream();
    return Objects.requireNonNull(name, "upstream");
  }

  @Override
  public void judgeResponse(Passage passage) {
    ResponseHead head = passage.response();
    if (route.upstream() == null || head == null) {
      return;
    }
    ConnectionFields.remove(head.fields());
    UpstreamGroup upstream = configuration.upstreams().get(upstream(passage));
    String cookie = upstream == null ? null : upstream.settings().choice().sticky().cookie();
    if (cookie != null) {
      StickyCookie.addTo(head, passage.request(), cookie);
    }
  }

  private static InetSocketAddress socket(@Nullable InetAddress address) {
    return address == null
        ? InetSocketAddress.createUnresolved("unknown", 0)
        : new InetSocketAddress(address, 0);
  }

  /** Whether the content of the request waits. */
  private static void waiting(Passage passage) {
    PoolSettings pool = passage.facts().pool();
    RequestHead request = passage.request();
    String length = request.fields().first(FieldName.CONTENT_LENGTH);
    boolean hasContent = length != null || request.fields().has(FieldName.TRANSFER_ENCODING);
    if (pool == null || !hasContent) {
      return;
    }
    long octets = length == null ? RequestContent.UNKNOWN_LENGTH : octets(length);
    long fileBytes = passage.facts().fileBytes();
    passage.say(
        "upload-buffer",
        "upstreams.*.upload-buffer",
        length == null ? "content of unknown length" : "Content-Length: " + length,
        pool.takesIn(request.fields(), octets, fileBytes)
            ? "its content comes in before it takes a connection: "
                + ByteSize.print(pool.uploadBufferBytes())
                + " in memory, then "
                + ByteSize.print(fileBytes)
                + " in a file"
            : "it takes a connection at once, and its content goes on as it comes");
  }

  private static void timeout(
      String setting, @Nullable Duration limit, String so, Passage passage) {
    if (limit != null) {
      passage.say(setting, "routes[]." + setting, TimeSpan.print(limit), so);
    }
  }

  static long octets(String length) {
    try {
      return Long.parseLong(length);
    } catch (NumberFormatException tooLong) {
      return Long.MAX_VALUE;
    }
  }
}
