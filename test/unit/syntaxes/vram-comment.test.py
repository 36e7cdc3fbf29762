# SYNTAX TEST "source.python" "the vram comments inside Python's"

# vram: device=8GiB, batch=32, input=float32[B,3,32,32], target=int64[35*B]<10
#^^^^^^ meta.directive.vram
# ^^^^ keyword.control.directive.vram
#       ^^^^^^ variable.other.property.vram
#             ^ keyword.operator.assignment.vram
#              ^ constant.numeric.vram
#               ^^^ keyword.other.unit.vram
#                  ^ punctuation.separator.vram
#                          ^^ constant.numeric.vram
#                                    ^^^^^^^ support.type.dtype.vram
#                                            ^ variable.language.dimension.vram
#                                              ^ constant.numeric.vram
#                                                                     ^^ constant.numeric.vram
#                                                                       ^ keyword.operator.vram
#                                                                        ^ variable.language.dimension.vram
#                                                                          ^ keyword.operator.vram
# VRAM： optimizer=adamw，precision=amp-fp16, model=GPT(Config(n_layer=6))
# ^^^^ keyword.control.directive.vram
#       ^^^^^^^^^ variable.other.property.vram
#                 ^^^^^ constant.other.value.vram
#                                 ^^^^^^^^ constant.other.value.vram
#                                                            ^^^^^^^ variable.other.property.vram
# vram: args=--batch-size 32 --arch=resnet50 data, model=Net
#       ^^^^ variable.other.property.vram
#            ^^^^^^^^^^^^ variable.parameter.option.vram
#                         ^^ constant.numeric.vram
#                            ^^^^^^ variable.parameter.option.vram
#                                   ^^^^^^^^ constant.other.value.vram
#                                                  ^^^^^ variable.other.property.vram
total += loss  # vram: ignore[loss-graph-retained, other-rule] -- summed on purpose
#                ^^^^ keyword.control.directive.vram
#                      ^^^^^^ keyword.other.suppression.vram
#                             ^^^^^^^^^^^^^^^^^^^ entity.name.tag.rule.vram
#                                                ^ punctuation.separator.vram
#                                                  ^^^^^^^^^^ entity.name.tag.rule.vram
#                                                              ^^ punctuation.separator.reason.vram
#                                                                 ^^^^^^^^^^^^^^^^^ comment.line.reason.vram
x = 1  # noqa: E501  # vram: ignore-file[rule]  # type: ignore
#        ^^^^ - meta.directive.vram
#                      ^^^^ keyword.control.directive.vram
#                            ^^^^^^^^^^^ keyword.other.suppression.vram
#                                               ^^^^^^ - meta.directive.vram
y = "# vram: batch=32"
#     ^^^^ - keyword.control.directive.vram
# about vram: nothing here
#       ^^^^ - keyword.control.directive.vram
