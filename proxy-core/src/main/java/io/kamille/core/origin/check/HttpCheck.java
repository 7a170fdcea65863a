package io.kamille.core.origin.check;

import io.kamille.core.content.Spool;
import io.kamille.core.exchange.DiscardingReply;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.ForwardingSettings.Mode;
import io.kamille.core.origin.HealthCheck;
import io.kamille.core.origin.HealthPolicy;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.UpstreamHandler;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.OriginTls;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** One check of an origin by a request, of HTTP or gRPC. Confined to its loop. */
final class HttpCheck extends DiscardingReply {

  /*
   * A check goes the way that requests go: an UpstreamHandler asks in the protocol of the upstream,
   * over TLS if the origin speaks it. Its only origin has the addresses of the one that is checked,
   * and a health of its own, so that no check counts as a request. The connection is new and closes
   * once the check is decided, by the status code or by the first content: an endpoint that sends a
   * gigabyte, or nothing, costs no more than another.
   */
  private static final int MOST_CONTENT_BYTES = 64 * 1024;

  private static final ForwardingSettings NOTHING_OF_CLIENTS =
      new ForwardingSettings(Mode.PASS, Mode.PASS, null, List.of(), List.of());

  /** What a check says of its origin. */
  enum Verdict {
    PASSED,
    FAILED,
    /** It took no connection. */
    UNREACHABLE,
    /** Nothing, for want of what we need ourselves, such as descriptors. */
    NONE
  }

  private final HealthCheck check;
  private final Origin asked;
  private final UpstreamHandler handler;
  private final BiConsumer<String, Verdict> outcome;
  private final ByteBuf content = Unpooled.buffer(0, MOST_CONTENT_BYTES);
  private @Nullable String grpcStatus;

  private HttpCheck(
      Origin origin,
      UpstreamSettings settings,
      @Nullable OriginTls tls,
      Connector connector,
      WallClock clock,
      BiConsumer<String, Verdict> outcome) {
    super(() -> {});
    this.check = settings.health().check();
    this.asked = origin.with(1, false, new OriginHealth(HealthPolicy.DEFAULTS));
    this.outcome = outcome;
    List<Origin> origins = List.of(asked);
    this.handler =
        new UpstreamHandler(
            asking(settings),
            origins,
            tls,
            connector,
            clock,
            new Spool(0, new MetricRegistry()),
            new UpstreamMetrics(new MetricRegistry(), "", origins));
  }

  /**
   * Connecting ends before the check does, so that an origin that cannot be reached is known as
   * one. The wait for a connection ends after it: it would look like a limit of ours.
   */
  private static UpstreamSettings asking(UpstreamSettings settings) {
    PoolSettings pool = settings.pool();
    return new UpstreamSettings(
        UpstreamSettings.DEFAULTS.choice(),
        settings.health().check().timeout().multipliedBy(9).dividedBy(10),
        settings.protocol(),
        settings.tls(),
        0,
        HealthPolicy.DEFAULTS,
        new PoolSettings(
            pool.maxConnections(),
            pool.maxWaiting(),
            settings.health().check().timeout().multipliedBy(2),
            pool.maxIdle(),
            pool.idleTimeout(),
            pool.uploadBufferBytes(),
            0),
        settings.connection(),
        NOTHING_OF_CLIENTS);
  }

  /**
   * Begins one, which ends with its outcome or when it is stopped.
   *
   * @param outcome is told once what was wrong, empty for nothing
   */
  static HttpCheck begin(
      Origin origin,
      UpstreamSettings settings,
      @Nullable OriginTls tls,
      Connector connector,
      EventLoop loop,
      WallClock clock,
      BiConsumer<String, Verdict> outcome) {
    HttpCheck begun = new HttpCheck(origin, settings, tls, connector, clock, outcome);
    begun.ask(loop);
    return begun;
  }

  private void ask(EventLoop loop) {
    String host = Objects.requireNonNullElse(check.host(), asked.url().authority());
    String scheme = asked.url().isSecure() ? "https://" : "http://";
    String url = scheme + host + (isGrpc() ? GrpcHealth.PATH : check.path());
    RequestHead head =
        RequestHead.of(isGrpc() ? "POST" : "GET", url, "User-Agent", "Kamille-Check");
    RequestContent asking = RequestContent.NONE;
    if (isGrpc()) {
      head.fields().add("Content-Type", "application/grpc");
      head.fields().add("TE", "trailers");
      asking = new GivenContent(GrpcHealth.request());
    }
    check.fields().forEach(line -> head.fields().add(line.name(), line.value()));
    handler.handle(
        new Exchange(loop, ProxyAnnouncement.NOBODY, ProxyAnnouncement.NOBODY, head, asking, this));
  }

  private boolean isGrpc() {
    return check.kind() == HealthCheck.Protocol.GRPC;
  }

  /** Ends it without an outcome. */
  void stop() {
    if (!isEnded()) {
      leave("the check is over");
      handler.close();
    }
  }

  private void judged(String trouble) {
    over(trouble, trouble.isEmpty() ? Verdict.PASSED : Verdict.FAILED);
  }

  private void over(String trouble, Verdict verdict) {
    if (!isEnded()) {
      stop();
      outcome.accept(trouble, verdict);
    }
  }

  private static Verdict verdict(Failure why) {
    return switch (why.kind()) {
      case DNS_ERROR,
          DESTINATION_UNAVAILABLE,
          CONNECTION_REFUSED,
          CONNECTION_TIMEOUT,
          TLS_PROTOCOL_ERROR,
          TLS_CERTIFICATE_ERROR,
          TLS_ALERT_RECEIVED ->
          Verdict.UNREACHABLE;
      default -> why.side() == Failure.Side.SELF ? Verdict.NONE : Verdict.FAILED;
    };
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    boolean passes = isGrpc() ? head.status() == StatusCode.OK : check.passes(head.status());
    if (!passes) {
      judged("status " + head.status());
    } else if (isGrpc()) {
      grpcStatus = grpcStatus(head.fields());
    } else if (check.contains().isEmpty()) {
      judged("");
    }
  }

  @Override
  public void write(ByteBuf chunk) {
    if (!isEnded()) {
      content.writeBytes(chunk, Math.min(chunk.readableBytes(), content.maxWritableBytes()));
    }
    chunk.release();
    if (content.maxWritableBytes() == 0) {
      judge();
    }
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (trailers != null && isGrpc()) {
      grpcStatus = grpcStatus(trailers);
    }
    judge();
  }

  private static @Nullable String grpcStatus(Fields fields) {
    List<String> values = fields.all("grpc-status");
    return values.isEmpty() ? null : values.getFirst();
  }

  private void judge() {
    if (isEnded()) {
      return;
    }
    if (isGrpc()) {
      judged(GrpcHealth.trouble(content, grpcStatus));
    } else {
      String text = content.toString(StandardCharsets.ISO_8859_1);
      judged(text.contains(check.contains()) ? "" : "its content lacks what is expected");
    }
  }

  @Override
  public void abort(Failure why) {
    Verdict verdict = verdict(why);
    over(why.reason(), verdict == Verdict.UNREACHABLE ? Verdict.FAILED : verdict);
  }

  @Override
  public void fail(Failure why) {
    over(why.reason(), verdict(why));
  }
}
