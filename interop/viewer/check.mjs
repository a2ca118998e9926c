// Looks at `sinew view` with the packages that Foxglove and Lichtblick are made of: subscribes,
// decodes messages by the advertised definitions, compares them with the published ones, and
// publishes. Takes the path of `sinew`.

import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import wsProtocol from "@foxglove/ws-protocol";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

const { FoxgloveClient } = wsProtocol;
const sinew = process.argv[2];
const directory = mkdtempSync("/dev/shm/sinew-viewer-");
const children = [];

function start(...words) {
  const child = spawn(sinew, [...words, "--dir", directory], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}

const deadline = setTimeout(() => {
  console.error("nothing came within a minute");
  end(1);
}, 60_000);

function end(code) {
  clearTimeout(deadline);
  for (const child of children) child.kill("SIGINT");
  rmSync(directory, { recursive: true, force: true });
  process.exit(code);
}

/** What is published, and what has to come of it. */
const topics = {
  "/chatter": {
    type: "std_msgs/msg/String",
    text: "{data: 'grüße'}",
    check: (message) => assert.deepEqual(message, { data: "grüße" }),
  },
  "/pose": {
    type: "geometry_msgs/msg/PoseStamped",
    text: "{header: {frame_id: map, stamp: {sec: 5, nanosec: 6}}, pose: {position: {x: 1.5}, orientation: {w: 1}}}",
    check: (message) => {
      assert.equal(message.header.frame_id, "map");
      assert.deepEqual(message.header.stamp, { sec: 5, nanosec: 6 });
      assert.deepEqual(message.pose.position, { x: 1.5, y: 0, z: 0 });
    },
  },
  "/cloud": {
    type: "sensor_msgs/msg/PointCloud2",
    text: "{width: 3, fields: [{name: x, datatype: 7, count: 1}], data: [1, 2, 3]}",
    check: (message) => {
      assert.equal(message.fields[0].name, "x");
      assert.deepEqual([...message.data], [1, 2, 3]);
    },
  },
};

async function main() {
  const view = start("view", "--port", "0", "--allow", "publish,services,parameters");
  const address = /ws:\/\/[^ ]+/.exec((await view.next()).value)[0];
  for (const [name, { type, text }] of Object.entries(topics)) {
    start("topic", "pub", name, type, text, "--rate", "20");
  }
  const echoed = start("topic", "echo", "/goal", "std_msgs/msg/String", "--json");

  const client = new FoxgloveClient({ ws: new WebSocket(address, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]) });
  const readers = new Map();
  const missing = new Set(Object.keys(topics));
  const seen = new Promise((resolve) => {
    client.on("advertise", (channels) => {
      for (const channel of channels.filter(({ topic }) => topic in topics)) {
        assert.equal(channel.schemaName, topics[channel.topic].type);
        const reader = new MessageReader(parse(channel.schema, { ros2: true }));
        readers.set(client.subscribe(channel.id), { reader, topic: channel.topic });
      }
    });
    client.on("message", ({ subscriptionId, data }) => {
      const { reader, topic } = readers.get(subscriptionId);
      topics[topic].check(reader.readMessage(data));
      missing.delete(topic);
      if (missing.size === 0) resolve();
    });
  });
  client.on("error", (error) => {
    console.error("the connection failed", error);
    end(1);
  });
  client.on("status", ({ message }) => console.log(`status: ${message}`));
  const info = await new Promise((resolve) => client.on("serverInfo", resolve));
  assert.ok(info.capabilities.includes("clientPublish"));
  await seen;
  console.log(`decoded ${Object.keys(topics).join(", ")}`);

  const definition = parse("string data", { ros2: true });
  const bytes = new MessageWriter(definition).writeMessage({ data: "from a viewer" });
  const goal = client.advertise({ topic: "/goal", encoding: "cdr", schemaName: "std_msgs/msg/String" });
  const publishing = setInterval(() => client.sendMessage(goal, bytes), 50);
  const { value } = await echoed.next();
  clearInterval(publishing);
  assert.ok(value.includes("from a viewer"), value);
  console.log("published /goal");
  client.close();
}

main().then(
  () => end(0),
  (error) => {
    console.error(error);
    end(1);
  },
);
