package io.kamille.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.answer.HeaderRules.FieldValue;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.SecretText;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a route sets on responses reaches those that were stored under other rules. */
class StoredRulesTest {

  private static final InetSocketAddress ADDRESS =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
  private static final String AGE = "Age: 7\r\n";

  private final Client client = new Client();

  /** What a client gets of a stored response. */
  private static final class Client extends PassingReply {

    private String lines = "";
    private String content = "";
    private boolean isWhole;
    private final List<ByteBuf> taken = new ArrayList<>();

    Client() {
      super(new RecordingReply());
    }

    @Override
    public void stored(int status, byte[] own, int length, ByteBuf stored, long contentLength) {
      storedHead(status, own, length, stored, contentLength);
      isWhole = true;
    }

    @Override
    public void storedHead(int status, byte[] own, int length, ByteBuf stored, long contentLength) {
      String all = take(stored);
      int end = all.indexOf("\r\n\r\n");
      int from = end < 0 ? 0 : end + 2;
      lines = new String(own, 0, length, StandardCharsets.ISO_8859_1) + all.substring(0, from);
      content = all.substring(from + 2);
    }

    @Override
    public void write(ByteBuf chunk) {
      content += take(chunk);
    }

    @Override
    public void end(@Nullable Fields trailers) {
      isWhole = true;
    }

    private String take(ByteBuf buffer) {
      String text = buffer.toString(StandardCharsets.ISO_8859_1);
      taken.add(buffer);
      buffer.release();
      return text;
    }
  }

  private static HeaderRules rules(
      List<String> remove, Map<String, String> set, Map<String, String> add) {
    return new HeaderRules(remove, values(set), values(add));
  }

  private static Map<String, FieldValue> values(Map<String, String> texts) {
    return texts.entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey,
                entry -> new FieldValue(new SecretText(entry.getValue(), entry.getValue(), null))));
  }

  private ByteBuf serve(HeaderRules rules, boolean addsSecurity, int status, String stored) {
    ByteBuf octets = Unpooled.copiedBuffer(stored, StandardCharsets.ISO_8859_1);
    Exchange exchange =
        new Exchange(
            new EmbeddedChannel().eventLoop(),
            ADDRESS,
            ADDRESS,
            RequestHead.of("GET", "http://h/a"),
            RequestContent.NONE,
            client);
    ExchangeHandler cache =
        asked -> {
          Reply reply = asked.reply();
          byte[] own = Fields.octetsOf(AGE);
          reply.stored(status, own, own.length, octets, 5);
        };
    StoredRules.before(cache, rules, addsSecurity).handle(exchange);
    assertThat(client.isWhole).isTrue();
    assertThat(octets.refCnt()).isZero();
    assertThat(client.taken).allSatisfy(each -> assertThat(each.refCnt()).isZero());
    return octets;
  }

  @Test
  void whatTheRulesHaveMadeAlreadyGoesOnAsItIs() {
    HeaderRules rules = rules(List.of("Server"), Map.of("X-A", "1"), Map.of("X-B", "2"));
    ByteBuf octets = serve(rules, false, 200, "x-a: 1\r\nX-B: 0\r\nX-B: 2\r\n\r\nhello");
    assertThat(client.taken).containsExactly(octets);
    assertThat(client.lines).isEqualTo(AGE + "x-a: 1\r\nX-B: 0\r\nX-B: 2\r\n");
    assertThat(client.content).isEqualTo("hello");
  }

  @Test
  void whatIsMissingIsAdded() {
    HeaderRules rules = rules(List.of("Server"), Map.of("X-A", "1"), Map.of("X-B", "2"));
    serve(rules, false, 200, "C: d\r\n\r\nhello");
    assertThat(client.lines).isEqualTo(AGE + "X-A: 1\r\nX-B: 2\r\nC: d\r\n");
    assertThat(client.content).isEqualTo("hello");
  }

  @Test
  void whatIsOtherThanItShouldBeGoes() {
    HeaderRules rules = rules(List.of("Server"), Map.of("X-A", "1"), Map.of());
    serve(rules, false, 200, "Server: x\r\nX-A: 0\r\nC: d\r\nX-A: 1\r\n\r\nhello");
    assertThat(client.lines).isEqualTo(AGE + "X-A: 1\r\nC: d\r\n");
    assertThat(client.content).isEqualTo("hello");
  }

  @Test
  void aHeadWithoutContentIsWhole() {
    serve(rules(List.of("Server"), Map.of(), Map.of()), false, 200, "Server: x\r\nC: d\r\n\r\n");
    assertThat(client.lines).isEqualTo(AGE + "C: d\r\n");
    assertThat(client.content).isEmpty();
  }

  /** A field that an update lacks stays as the client has it stored (RFC 9111 §3.2). */
  @Test
  void anUpdateGetsNothingBesides() {
    serve(rules(List.of(), Map.of("X-A", "1"), Map.of("X-B", "2")), true, 304, "C: d\r\n\r\n");
    assertThat(client.lines).isEqualTo(AGE + "X-A: 1\r\nC: d\r\n");
  }

  @Test
  void securityFieldsAreGivenToWhatLacksThem() {
    serve(HeaderRules.NONE, true, 200, "X-Frame-Options: DENY\r\n\r\nhello");
    assertThat(client.lines)
        .startsWith(AGE + "X-Content-Type-Options: nosniff\r\n")
        .endsWith("\r\nX-Frame-Options: DENY\r\n")
        .doesNotContain("Strict-Transport-Security", "SAMEORIGIN");
  }

  @Test
  void withoutRulesNothingStandsBeforeTheCache() {
    ExchangeHandler cache = exchange -> {};
    assertThat(StoredRules.before(cache, HeaderRules.NONE, false)).isSameAs(cache);
  }
}
