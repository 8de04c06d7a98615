// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation.bytecode;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

import org.springframework.asm.ConstantDynamic;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Finds the calls of an instance method on {@code this}, by following that one value on
 * the operand stack. Where it loses track there is nothing to find.
 */
final class SelfCalls extends MethodVisitor {

	/** How the stack grows, by opcode: E not at all, F by one slot, D by minus one. */
	private static final String GROWTH = "EFFFFFFFFGGFFFGGFFFEEFGFGFEEEEEEEEEEEEEEEEEEEEDEDEDDDDDCDCDEEEEEEEEEEEEEEEEEEEE"
			+ "BABABBBBDCFFFGGGEDCDCDCDCDCDCDCDCDCDCEEEEDDDDDDDCDCDCEFEFDDEEFFDEDEEEBDDBBDDDDDDCCCCCCCCEEEDDDCDCDEEEEEE"
			+ "EEEEFEEEEEEDDEEDDEE";

	private final BiConsumer<String, String> onCall;

	private final Map<Label, Stack> branches = new HashMap<>();

	private Stack stack = new Stack();

	/**
	 * Whether the next instruction follows the last one, or only a branch leads there.
	 */
	private boolean reached = true;

	/**
	 * Create a visitor.
	 * @param onCall gets the class, and the name with the descriptor, of what is called
	 */
	SelfCalls(BiConsumer<String, String> onCall) {
		super(SpringAsmInfo.ASM_VERSION);
		this.onCall = onCall;
	}

	@Override
	public void visitInsn(int opcode) {
		if (opcode == Opcodes.DUP) {
			this.stack.push(1, this.stack.isSelf(1));
			return;
		}
		if (opcode >= Opcodes.DUP_X1 && opcode <= Opcodes.SWAP) {
			this.stack.forget(4);
		}
		grow(opcode);
		if ((opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) || opcode == Opcodes.ATHROW) {
			this.reached = false;
		}
	}

	@Override
	public void visitIntInsn(int opcode, int operand) {
		grow(opcode);
	}

	@Override
	public void visitVarInsn(int opcode, int index) {
		if (opcode == Opcodes.ALOAD) {
			this.stack.push(1, index == 0);
		}
		else {
			grow(opcode);
		}
	}

	@Override
	public void visitTypeInsn(int opcode, String type) {
		if (opcode == Opcodes.INSTANCEOF) {
			this.stack.pop(1);
			this.stack.push(1, false);
		}
		else {
			grow(opcode);
		}
	}

	@Override
	public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
		int value = Type.getType(descriptor).getSize();
		boolean writing = opcode == Opcodes.PUTFIELD || opcode == Opcodes.PUTSTATIC;
		boolean ofObject = opcode == Opcodes.PUTFIELD || opcode == Opcodes.GETFIELD;
		this.stack.pop((writing ? value : 0) + (ofObject ? 1 : 0));
		this.stack.push(writing ? 0 : value, false);
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		call(descriptor, opcode == Opcodes.INVOKESTATIC, () -> this.onCall.accept(owner, name + descriptor));
	}

	@Override
	public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
		// A method reference has captured its receiver first
		if (this.stack.isSelf((Type.getArgumentsAndReturnSizes(descriptor) >> 2) - 1)) {
			for (Object argument : arguments) {
				if (argument instanceof Handle method && method.getTag() != Opcodes.H_INVOKESTATIC) {
					this.onCall.accept(method.getOwner(), method.getName() + method.getDesc());
				}
			}
		}
		call(descriptor, true, () -> {
		});
	}

	@Override
	public void visitLdcInsn(Object value) {
		boolean wide = value instanceof Long || value instanceof Double;
		this.stack.push((value instanceof ConstantDynamic constant) ? constant.getSize() : (wide ? 2 : 1), false);
	}

	@Override
	public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
		this.stack.pop(dimensions);
		this.stack.push(1, false);
	}

	@Override
	public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
		Stack caught = new Stack();
		caught.push(1, false);
		this.branches.put(handler, caught);
	}

	@Override
	public void visitJumpInsn(int opcode, Label label) {
		grow(opcode);
		branch(label);
		if (opcode == Opcodes.GOTO) {
			this.reached = false;
		}
	}

	@Override
	public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
		visitLookupSwitchInsn(otherwise, new int[0], labels);
	}

	@Override
	public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
		this.stack.pop(1);
		branch(otherwise);
		List.of(labels).forEach(this::branch);
		this.reached = false;
	}

	@Override
	public void visitLabel(Label label) {
		Stack branch = this.branches.getOrDefault(label, this.reached ? this.stack : new Stack());
		if (this.reached) {
			this.stack.meet(branch);
		}
		else {
			this.stack = branch.copy();
		}
		this.reached = true;
	}

	private void branch(Label label) {
		Stack known = this.branches.putIfAbsent(label, this.stack.copy());
		if (known != null) {
			known.meet(this.stack);
		}
	}

	private void call(String descriptor, boolean isStatic, Runnable onSelf) {
		int sizes = Type.getArgumentsAndReturnSizes(descriptor);
		int arguments = (sizes >> 2) - (isStatic ? 1 : 0);
		if (!isStatic && this.stack.isSelf(arguments)) {
			onSelf.run();
		}
		this.stack.pop(arguments);
		this.stack.push(sizes & 3, false);
	}

	private void grow(int opcode) {
		int slots = GROWTH.charAt(opcode) - 'E';
		this.stack.pop(-slots);
		this.stack.push(slots, false);
	}

	/** The operand stack: how large it is, and which of its slots are {@code this}. */
	private static final class Stack {

		private int size;

		private final BitSet self = new BitSet();

		Stack copy() {
			Stack copy = new Stack();
			copy.size = this.size;
			copy.self.or(this.self);
			return copy;
		}

		void meet(Stack other) {
			this.self.and(other.self);
		}

		boolean isSelf(int depth) {
			return depth > 0 && depth <= this.size && this.self.get(this.size - depth);
		}

		void push(int slots, boolean isSelf) {
			for (int i = 0; i < slots; i++) {
				this.self.set(this.size++, isSelf);
			}
		}

		void forget(int slots) {
			this.self.clear(Math.max(0, this.size - slots), this.size);
		}

		void pop(int slots) {
			this.size = Math.max(0, this.size - Math.max(0, slots));
			this.self.clear(this.size, Math.max(this.size, this.self.length()));
		}

	}

}
