package io.kamille.core.origin.names;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.handler.codec.dns.DatagramDnsQuery;
import io.netty.handler.codec.dns.DatagramDnsQueryDecoder;
import io.netty.handler.codec.dns.DatagramDnsResponse;
import io.netty.handler.codec.dns.DatagramDnsResponseEncoder;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRawRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.handler.codec.dns.DnsSection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A name server on loopback that knows what a test tells it. Any thread. */
final class NameServer implements AutoCloseable {

  private record Known(String name, DnsRecordType type, long ttlSeconds, ByteBuf octets) {}

  private final Map<String, List<Known>> records = new ConcurrentHashMap<>();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final Channel channel;
  private volatile DnsResponseCode unknown = DnsResponseCode.NXDOMAIN;

  NameServer(EventLoop loop) {
    channel =
        new Bootstrap()
            .group(loop)
            .channel(NioDatagramChannel.class)
            .handler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel opened) {
                    opened
                        .pipeline()
                        .addLast(
                            new DatagramDnsQueryDecoder(),
                            new DatagramDnsResponseEncoder(),
                            new Answering());
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .syncUninterruptibly()
            .channel();
  }

  InetSocketAddress address() {
    return (InetSocketAddress) channel.localAddress();
  }

  /** The names that were asked for, each with a dot at its end. */
  List<String> asked() {
    return asked;
  }

  /** What it says of names that it does not know. */
  void answerUnknownBy(DnsResponseCode code) {
    unknown = code;
  }

  NameServer address(String name, long ttlSeconds, int last) {
    return add(
        new Known(
            name,
            DnsRecordType.A,
            ttlSeconds,
            Unpooled.wrappedBuffer(new byte[] {127, 0, 0, (byte) last})));
  }

  /** If it is asked for {@code name}, it tells of {@code other}. */
  NameServer lie(String name, String other, long ttlSeconds, int last) {
    records
        .computeIfAbsent(name + ".", _ -> new CopyOnWriteArrayList<>())
        .add(
            new Known(
                other,
                DnsRecordType.A,
                ttlSeconds,
                Unpooled.wrappedBuffer(new byte[] {127, 0, 0, (byte) last})));
    return this;
  }

  NameServer service(String name, long ttlSeconds, int priority, int weight, int port, String to) {
    ByteBuf octets = Unpooled.buffer().writeShort(priority).writeShort(weight).writeShort(port);
    return add(new Known(name, DnsRecordType.SRV, ttlSeconds, labels(octets, to)));
  }

  NameServer alias(String name, long ttlSeconds, String to) {
    return add(new Known(name, DnsRecordType.CNAME, ttlSeconds, labels(Unpooled.buffer(), to)));
  }

  private static ByteBuf labels(ByteBuf octets, String name) {
    for (String label : name.isEmpty() ? new String[0] : name.split("\\.", -1)) {
      octets.writeByte(label.length()).writeCharSequence(label, StandardCharsets.US_ASCII);
    }
    return octets.writeByte(0);
  }

  private NameServer add(Known known) {
    records.computeIfAbsent(known.name + ".", _ -> new CopyOnWriteArrayList<>()).add(known);
    return this;
  }

  void forget(String name) {
    records.remove(name + ".");
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
  }

  private final class Answering extends SimpleChannelInboundHandler<DatagramDnsQuery> {

    @Override
    protected void channelRead0(ChannelHandlerContext context, DatagramDnsQuery query) {
      DnsQuestion question = query.recordAt(DnsSection.QUESTION);
      asked.add(question.name());
      List<Known> known = records.get(question.name());
      var response =
          new DatagramDnsResponse(
              /* sender= */ query.recipient(), /* recipient= */ query.sender(), query.id());
      response.setCode(known == null ? unknown : DnsResponseCode.NOERROR);
      response.addRecord(DnsSection.QUESTION, question);
      for (Known each : known == null ? List.<Known>of() : known) {
        if (each.type.equals(question.type()) || each.type.equals(DnsRecordType.CNAME)) {
          response.addRecord(DnsSection.ANSWER, record(each));
        }
      }
      context.writeAndFlush(response);
    }

    private static DnsRawRecord record(Known known) {
      return new DefaultDnsRawRecord(
          known.name + ".", known.type, known.ttlSeconds, known.octets.retainedDuplicate());
    }
  }
}
