// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.VarArgFunction;
import org.luaj.vm2.lib.jse.JsePlatform;

import io.github.lockstarter.redis.RedisModel.RedisError;
import io.github.lockstarter.redis.RedisModel.Status;

/**
 * Runs the text of scripts on a {@link RedisModel}, with what Redis gives to a script.
 * LuaJ is lenient where Redis is not: a script may set globals, and {@code tostring}
 * keeps all digits.
 */
final class RedisScripts {

	private final RedisModel server;

	private final Globals globals = JsePlatform.standardGlobals();

	private final Map<String, LuaValue> loaded = new HashMap<>();

	RedisScripts(RedisModel server) {
		this.server = server;
		LuaTable redis = new LuaTable();
		redis.set("call", function(true));
		redis.set("pcall", function(false));
		this.globals.set("redis", redis);
		// Lua 5.1 has it there
		this.globals.set("unpack", this.globals.get("table").get("unpack"));
	}

	/**
	 * Run a script.
	 * @throws RedisError if its answer is an error
	 */
	@Nullable Object run(String text, List<String> keys, List<String> arguments) {
		this.globals.set("KEYS", table(keys));
		this.globals.set("ARGV", table(arguments));
		try {
			return answer(this.loaded.computeIfAbsent(text, this.globals::load).call());
		}
		catch (LuaError ex) {
			LuaValue error = ex.getMessageObject();
			throw new RedisError(
					(error != null && error.istable()) ? error.get("err").tojstring() : "ERR " + ex.getMessage());
		}
	}

	private VarArgFunction function(boolean throwing) {
		return new VarArgFunction() {

			@Override
			public Varargs invoke(Varargs arguments) {
				try {
					return value(RedisScripts.this.server.call(texts(arguments)));
				}
				catch (RedisError ex) {
					LuaTable error = new LuaTable();
					error.set("err", text(String.valueOf(ex.getMessage())));
					if (throwing) {
						throw new LuaError(error);
					}
					return error;
				}
			}

		};
	}

	private static List<String> texts(Varargs arguments) {
		List<String> texts = new ArrayList<>(arguments.narg());
		for (int i = 1; i <= arguments.narg(); i++) {
			LuaValue each = arguments.arg(i);
			if (!each.isstring()) {
				throw new RedisError("ERR Lua redis lib command arguments must be strings or integers");
			}
			texts.add((each.type() == LuaValue.TNUMBER) ? RedisModel.number(each.todouble()) : text(each));
		}
		return texts;
	}

	private static LuaValue value(@Nullable Object answer) {
		if (answer instanceof Long number) {
			return LuaValue.valueOf((double) number);
		}
		if (answer instanceof String text) {
			return text(text);
		}
		if (answer instanceof Status status) {
			LuaTable table = new LuaTable();
			table.set("ok", text(status.text()));
			return table;
		}
		return (answer instanceof List<?> list) ? table(list) : LuaValue.FALSE;
	}

	private static LuaTable table(List<? extends @Nullable Object> elements) {
		LuaTable table = new LuaTable(elements.size(), 0);
		for (int i = 0; i < elements.size(); i++) {
			table.set(i + 1, value(elements.get(i)));
		}
		return table;
	}

	private static @Nullable Object answer(LuaValue value) {
		return switch (value.type()) {
			case LuaValue.TNUMBER -> (long) value.todouble();
			case LuaValue.TSTRING -> text(value);
			case LuaValue.TBOOLEAN -> value.toboolean() ? 1L : null;
			case LuaValue.TTABLE -> answer(value.checktable());
			default -> null;
		};
	}

	private static Object answer(LuaTable table) {
		if (!table.get("err").isnil()) {
			throw new RedisError(table.get("err").tojstring());
		}
		if (!table.get("ok").isnil()) {
			return new Status(table.get("ok").tojstring());
		}
		List<@Nullable Object> elements = new ArrayList<>();
		for (int i = 1; !table.get(i).isnil(); i++) {
			elements.add(answer(table.get(i)));
		}
		return elements;
	}

	private static LuaString text(String text) {
		return LuaString.valueOf(text.getBytes(StandardCharsets.ISO_8859_1));
	}

	private static String text(LuaValue value) {
		LuaString text = value.strvalue();
		return new String(text.m_bytes, text.m_offset, text.m_length, StandardCharsets.ISO_8859_1);
	}

}
