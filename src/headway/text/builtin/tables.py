"""The tables of the lexicon, as text; `lexicon.py` says how to read a line."""

NOUNS = """
worker
teacher | professeur m professeure | 老师 位
doctor | médecin m médecin | 医生 位
nurse | infirmier m infirmière | 护士 位
lawyer | avocat m avocate | 律师 位
engineer | ingénieur m ingénieure | 工程师 位
writer | écrivain m écrivaine | 作家 位
singer | chanteur m chanteuse | 歌手 位
actor | acteur m actrice | 演员 位
musician | musicien m musicienne | 音乐家 位
painter | peintre m peintre | 画家 位
cook | cuisinier m cuisinière | 厨师 位
baker | boulanger m boulangère | 面包师 位
farmer | agriculteur m agricultrice | 农民 位
journalist | journaliste m journaliste | 记者 位
dentist | dentiste m dentiste | 牙医 位
scientist | scientifique m scientifique | 科学家 位
waiter | serveur m serveuse | 服务员 位
pilot | pilote m pilote | 飞行员 位
architect | architecte m architecte | 建筑师 位
dancer | danseur m danseuse | 舞蹈演员 位

adult
man/men | homme m | 男人 个
woman/women | femme f | 女人 个
neighbour | voisin m | 邻居 个
friend | ami m | 朋友 个

child
student | étudiant m étudiante | 学生 个
boy | garçon m | 男孩 个
girl | fille f | 女孩 个
child/children | enfant m | 孩子 个

kin
mother | mère f | 妈妈 位
father | père m | 爸爸 位
sister | sœur f | 姐姐 个
brother | frère m | 哥哥 个
grandmother | grand-mère/grands-mères f | 奶奶 位
grandfather | grand-père/grands-pères m | 爷爷 位
uncle | oncle m | 叔叔 个
aunt | tante f | 阿姨 个
son | fils m | 儿子 个
nephew | neveu m | 侄子 个
niece | nièce f | 侄女 个

animal
animal | animal m | 动物 只
mouse/mice | souris f | 老鼠 只
elephant | éléphant m | 大象 头
lion | lion m | 狮子 头
tiger | tigre m | 老虎 只
monkey | singe m | 猴子 只
bear | ours m | 熊 只
wolf/wolves | loup m | 狼 只
fox | renard m | 狐狸 只
giraffe | girafe f | 长颈鹿 只
frog | grenouille f | 青蛙 只
snake | serpent m | 蛇 条
panther | panthère f | 豹子 只

animal pet
cat | chat m | 猫 只
dog | chien m | 狗 只
horse | cheval m | 马 匹
cow | vache f | 牛 头
bird | oiseau m | 鸟 只
rabbit | lapin m | 兔子 只
duck | canard m | 鸭子 只
pig | cochon m | 猪 头
turtle | tortue f | 乌龟 只
goat | chèvre f | 山羊 只
hen | poule f | 母鸡 只
goose/geese | oie f | 鹅 只

fruit
apple | pomme f | 苹果 个
orange | orange f | 橙子 个
banana | banane f | 香蕉 根
pear | poire f | 梨 个
peach | pêche f | 桃子 个
strawberry | fraise f | 草莓 颗
tomato/tomatoes | tomate f | 西红柿 个
lemon | citron m | 柠檬 个
carrot | carotte f | 胡萝卜 根
potato/potatoes | pomme de terre/pommes de terre f | 土豆 个
egg | œuf m | 鸡蛋 个
cake | gâteau m | 蛋糕 块
sandwich | sandwich m | 三明治 个
biscuit | biscuit m | 饼干 块

dish
bread | pain m | 面包 块
cheese | fromage m | 奶酪 块
rice | riz m | 米饭 碗
meat | viande f | 肉 块
soup | soupe f | 汤 碗
salad | salade f | 沙拉 份
chocolate | chocolat m | 巧克力 块
fish | poisson m | 鱼 条

drink
coffee | café m | 咖啡 杯
tea | thé m | 茶 杯
milk | lait m | 牛奶 杯
water | eau f | 水 杯
juice | jus m | 果汁 杯
beer | bière f | 啤酒 杯
wine | vin m | 葡萄酒 杯

vehicle
bus | bus m | 公共汽车 辆
train | train m | 火车 列
lorry | camion m | 卡车 辆
plane | avion m | 飞机 架
taxi | taxi m | 出租车 辆

vehicle private
car | voiture f | 汽车 辆
bicycle | vélo m | 自行车 辆
boat | bateau m | 船 艘
motorcycle | moto f | 摩托车 辆

thing
pen | stylo m | 钢笔 支
bag | sac m | 包 个
key | clé f | 钥匙 把
umbrella | parapluie m | 雨伞 把
cup | tasse f | 杯子 个
plate | assiette f | 盘子 个
knife/knives | couteau m | 刀 把
spoon | cuillère f | 勺子 把
bottle | bouteille f | 瓶子 个
box | boîte f | 盒子 个
suitcase | valise f | 行李箱 个
gift | cadeau m | 礼物 份
ball | ballon m | 球 个
toy | jouet m | 玩具 个
photo | photo f | 照片 张
painting | tableau m | 画 幅
flower | fleur f | 花 朵
mirror | miroir m | 镜子 面
basket | panier m | 篮子 个
candle | bougie f | 蜡烛 支
dictionary | dictionnaire m | 词典 本

reading
book | livre m | 书 本
letter | lettre f | 信 封
newspaper | journal m | 报纸 份
magazine | magazine m | 杂志 本
poem | poème m | 诗 首
report | rapport m | 报告 份
novel | roman m | 小说 本

clothing
shirt | chemise f | 衬衫 件
coat | manteau m | 大衣 件
dress | robe f | 连衣裙 条
skirt | jupe f | 裙子 条
sweater | pull m | 毛衣 件
jacket | veste f | 夹克 件

headwear
hat | chapeau m | 帽子 顶
scarf/scarves | écharpe f | 围巾 条
tie | cravate f | 领带 条

furniture
table | table f | 桌子 张
chair | chaise f | 椅子 把
bed | lit m | 床 张
sofa | canapé m | 沙发 张
shelf/shelves | étagère f | 架子 个
wardrobe | armoire f | 衣柜 个

opening
door | porte f | 门 扇
window | fenêtre f | 窗户 扇

device
computer | ordinateur m | 电脑 台
phone | téléphone m | 手机 部
watch | montre f | 手表 块
lamp | lampe f | 台灯 盏
radio | radio f | 收音机 台
fridge | réfrigérateur m | 冰箱 台
camera | appareil photo/appareils photo m | 相机 台

instrument
guitar | guitare f | 吉他 把
piano | piano m | 钢琴 架
violin | violon m | 小提琴 把

building
school | école f | 学校 所
hospital | hôpital m | 医院 家
library | bibliothèque f | 图书馆 座
museum | musée m | 博物馆 座
station | gare f | 火车站 座
church | église f | 教堂 座
restaurant | restaurant m | 餐厅 家
hotel | hôtel m | 酒店 家
supermarket | supermarché m | 超市 家
bank | banque f | 银行 家
bakery | boulangerie f | 面包店 家
pharmacy | pharmacie f | 药店 家
theatre | théâtre m | 剧院 家
cinema | cinéma m | 电影院 家
castle | château m | 城堡 座
airport | aéroport m | 机场 座
factory | usine f | 工厂 家
university | université f | 大学 所

outdoors
market | marché m | 市场 个
park | parc m | 公园 个
beach | plage f | 海滩 片

home
house | maison f | 房子 座

room
kitchen | cuisine f | 厨房 间
garden | jardin m | 花园 个
bedroom | chambre f | 卧室 间
office | bureau m | 办公室 间
living room | salon m | 客厅 间
garage | garage m | 车库 间
cellar | cave f | 地下室 间

way
street | rue f | 街 条
road | route f | 公路 条
river | rivière f | 河流 条
bridge | pont m | 桥 座
forest | forêt f | 森林 片
field | champ m | 田野 片
valley | vallée f | 山谷 座
square | place f | 广场 个
path | chemin m | 小路 条
avenue | avenue f | 大道 条
tunnel | tunnel m | 隧道 条
lake | lac m | 湖 个
desert | désert m | 沙漠 片
mountain | montagne f | 山 座
tree | arbre m | 树 棵
wall | mur m | 墙 堵
fence | barrière f | 栅栏 道
hedge | haie f | 树篱 道
cave | grotte f | 山洞 个

event
film | film m | 电影 部
concert | concert m | 音乐会 场
lesson | cours m | 课 节
meeting | réunion f | 会议 场
match | match m | 比赛 场
party | fête f | 聚会 场
exam | examen m | 考试 场
exhibition | exposition f | 展览 场

language
French | français m | 法语 门
English | anglais m | 英语 门
Chinese | chinois m | 中文 门
Spanish | espagnol m | 西班牙语 门
German | allemand m | 德语 门
Italian | italien m | 意大利语 门
history | histoire f | 历史 门
music | musique f | 音乐 门
"""

_PEOPLE = "worker adult child kin"
_OBJECTS = "vehicle thing reading clothing headwear furniture device instrument"

ADJECTIVES = f"""
before
big/bigger | grand | 大 大 | animal vehicle suitcase box bag furniture building outdoors room way house
small/smaller | petit | 小 小 | animal vehicle thing furniture device building outdoors room way house
beautiful | beau belle | 漂亮 漂亮的 | thing clothing headwear building outdoors room house horse bird car woman
old/older | vieux vieille | 老 老 | worker adult animal
old/older | vieux vieille | 旧 旧 | {_OBJECTS}
new/- | nouveau nouvelle | - 新 | {_OBJECTS} building house
young/younger | jeune | 年轻 年轻的 | worker adult
young/younger | jeune | 年轻 - | animal
tall/taller | grand | 高 - | worker adult child kin
short/shorter | petit | 矮 - | worker adult child kin
kind/kinder | gentil gentille | 善良 善良的 | {_PEOPLE}
fat/fatter | gros grosse | 胖 胖 | animal
pretty/prettier | joli | 好看 好看的 | thing clothing headwear

after
red/- | rouge | 是红色的 红色的 | vehicle clothing headwear furniture bag umbrella cup pen box flower
blue/- | bleu | 是蓝色的 蓝色的 | vehicle clothing headwear furniture bag umbrella cup pen box
green/- | vert | 是绿色的 绿色的 | vehicle clothing headwear furniture bag umbrella cup pen box
white/- | blanc blanche | 是白色的 白色的 | vehicle clothing headwear furniture bag cup box flower cat dog horse rabbit
black/- | noir | 是黑色的 黑色的 | vehicle clothing headwear furniture bag umbrella cat dog horse cow bird
yellow/- | jaune | 是黄色的 黄色的 | vehicle clothing headwear furniture bag umbrella cup box flower
grey/- | gris | 是灰色的 灰色的 | vehicle clothing headwear furniture cat dog horse wolf rabbit
tired | fatigué | 累 - | {_PEOPLE} animal
happy/happier | heureux | 高兴 - | {_PEOPLE}
sad/sadder | triste | 难过 - | {_PEOPLE}
frightened | effrayé | 害怕 - | {_PEOPLE} animal
nervous | nerveux | 紧张 - | {_PEOPLE} animal
worried | inquiet inquiète | 担心 - | {_PEOPLE}
busy/busier | occupé | 忙 - | worker kin adult
surprised/- | surpris | 惊讶 - | {_PEOPLE}
proud/- | fier | 骄傲 - | {_PEOPLE}
rich/richer | riche | 富有 富有的 | worker adult kin
poor/poorer | pauvre | 穷 - | worker adult
famous | célèbre | 出名 出名的 | worker museum church castle theatre hotel university book novel poem painting
polite | poli | 有礼貌 有礼貌的 | {_PEOPLE}
intelligent | intelligent | 聪明 聪明的 | {_PEOPLE} animal
lazy/lazier | paresseux | 懒 - | {_PEOPLE} cat dog pig bear
brave/braver | courageux | 勇敢 勇敢的 | {_PEOPLE} dog lion horse
funny/funnier | drôle | 幽默 幽默的 | {_PEOPLE}
shy/shyer | timide | 害羞 害羞的 | {_PEOPLE}
serious | sérieux | 认真 认真的 | worker adult child kin
patient | patient | 有耐心 有耐心的 | {_PEOPLE}
strong/stronger | fort | 强壮 强壮的 | adult kin horse elephant lion tiger bear dog cow
weak/weaker | faible | 虚弱 - | animal
slow/slower | lent | 慢 - | animal bus train boat lorry
fast/faster | rapide | 快 - | horse dog rabbit car train plane motorcycle boat bicycle computer
dangerous | dangereux | 危险 危险的 | lion tiger bear wolf snake street road bridge forest tunnel mountain cave desert
expensive | cher | 贵 昂贵的 | car boat motorcycle clothing headwear furniture device instrument hotel painting
heavy/heavier | lourd | 重 沉重的 | suitcase box bag basket table wardrobe piano dictionary lorry
light/lighter | léger | 轻 - | suitcase box bag basket chair bicycle computer coat jacket
dirty/dirtier | sale | 脏 脏 | cup plate knife spoon bottle clothing window bicycle car lorry bus kitchen street
clean/cleaner | propre | 干净 干净的 | cup plate knife spoon clothing window car bedroom kitchen hotel street restaurant
empty/- | vide | - 空 | box bottle suitcase basket cup wardrobe bag
round/- | rond | 是圆的 圆 | table mirror
wide/wider | large | 宽 宽阔的 | street road river bridge avenue square valley field lake desert
narrow/narrower | étroit | 窄 狭窄的 | street road bridge path tunnel
long/longer | long longue | 长 - | street road river bridge tunnel letter novel film report lesson skirt dress meeting
deep/deeper | profond | 深 - | river lake
high/higher | haut | 高 - | mountain wall fence hedge
dark/darker | sombre | 暗 - | forest tunnel cave garage cellar kitchen church castle
hard/harder | dur | 硬 - | bread biscuit cheese carrot meat cake
comfortable | confortable | 舒服 舒服的 | chair sofa bed car train hotel sweater
modern | moderne | 现代 现代的 | school hospital library museum theatre airport university office kitchen
quiet/quieter | calme | 安静 安静的 | library park garden street restaurant hotel bedroom office church
noisy/noisier | bruyant | 吵 - | street avenue square restaurant market bus motorcycle factory station child
interesting | intéressant | 有意思 有意思的 | reading event museum
boring | ennuyeux | 无聊 无聊的 | reading event
important | important | 重要 重要的 | letter report meeting exam lesson
useful | utile | 有用 - | dictionary computer phone umbrella knife bicycle
difficult | difficile | 难 - | exam lesson
easy/easier | facile | 容易 - | exam lesson
hot/hotter | chaud | 烫 - | soup coffee tea milk rice
cold/colder | froid | 凉 - | soup coffee tea milk rice meat
sweet/sweeter | sucré | 甜 - | apple orange banana pear peach strawberry cake biscuit juice
salty/saltier | salé | 咸 - | soup cheese meat fish rice
fresh/fresher | frais fraîche | 新鲜 新鲜的 | fruit bread fish milk juice meat
ripe/riper | mûr | 熟 - | banana pear peach strawberry tomato
delicious | délicieux | 好吃 好吃的 | fruit dish
strange | bizarre | 奇怪 奇怪的 | painting letter film animal hat photo novel

fixed
brown/- | marron | 是棕色的 棕色的 | clothing headwear furniture bag bear cow horse dog
angry/- | en colère | 生气 - | {_PEOPLE}
cheap/- | bon marché | 便宜 便宜的 | clothing headwear furniture hotel restaurant bicycle watch phone

has
hungry/hungrier | faim | 饿 - | {_PEOPLE} animal
thirsty/thirstier | soif | 渴 - | {_PEOPLE} animal
"""

TOO = """
big small tired nervous busy slow dangerous expensive heavy dirty wide narrow long deep high noisy difficult weak dark
hard hot cold sweet salty shy serious lazy strong fat proud worried boring frightened young
"""
"""The adjectives that make sense after *too*."""

VERBS = """
past
eat/ate/eaten | manger | 吃 | fruit
buy/bought/bought | acheter | 买 | fruit, private, thing, reading, clothing, headwear, furniture, device, instrument
sell/sold/sold | vendre | 卖掉 | private, painting, furniture, device, instrument, house, horse, cow, goat
find/found/found | trouver | 找到 | thing, reading, headwear, phone, watch, camera, dog, cat
lose/lost/lost | perdre | 弄丢 | key, bag, umbrella, pen, letter, book, watch, phone, camera, headwear, suitcase, gift
break/broke/broken | casser | 打破 | cup, plate, bottle, mirror, window, lamp
open | ouvrir | 打开 | door, window, box, letter, bag, bottle, suitcase, gift, wardrobe, fridge
close | fermer | 关上 | door, window, box, suitcase, wardrobe, fridge
wash | laver | 洗 | cup, plate, spoon, knife, clothing, car, dog, horse, bicycle, apple, carrot
clean | nettoyer | 打扫 | room, house, restaurant, school, library
repair | réparer | 修理 | vehicle, device, chair, table, door, window, instrument, umbrella
drive/drove/driven | conduire | 开 | car, bus, lorry, taxi
read/read/read | lire | 读 | reading
write/wrote/written | écrire | 写 | letter, book, poem, report, novel
see/saw/seen | voir | 看见 | animal, worker, adult, child, vehicle, castle
hear/heard/heard | entendre | 听见 | dog, cat, bird, horse, wolf, lion, child, cow, train, plane
visit | visiter | 参观 | museum, castle, church, school, university, theatre, factory, exhibition, library, house
look for | chercher | 寻找 | thing, phone, watch, camera, cat, dog, headwear, book, letter
wait/waited/waited for | attendre | 等 | bus, train, taxi, plane, worker, adult, child
watch | regarder | 看 | film, match, bird
help | aider | 帮助 | worker, adult, child
meet/met/met/meeting | rencontrer | 遇见 | worker, adult
invite | inviter | 邀请 | worker, adult
thank | remercier | 感谢 | worker, adult, child
choose/chose/chosen | choisir | 选择 | fruit, clothing, headwear, gift, book, novel, film, hotel, toy, flower
draw/drew/drawn | dessiner | 画 | animal, tree, flower, house, castle, bridge, boat, church, mountain, bicycle
photograph | photographier | 拍摄 | animal, mountain, lake, river, church, castle, bridge, flower, tree
feed/fed/fed | nourrir | 喂 | pet, monkey, elephant, giraffe, bear
paint | peindre | 粉刷 | door, wall, house, kitchen, bedroom, wardrobe, chair, bridge

consume
eat/ate/eaten | manger | 吃 | dish
drink/drank/drunk | boire | 喝 | drink
buy/bought/bought | acheter | 买 | bread, cheese, meat, fish, salad, chocolate, drink

to
call | téléphoner à | 给{}打~电话 | worker, adult, child
answer | répondre à | 回答~{} | worker, adult, child
smile at | sourire à | 对{}微笑~ | worker, adult, child
talk to | parler à | 跟{}说~话 | worker, adult, child

give
give/gave/given | donner | 给~{i}{} | thing, reading, clothing, headwear, fruit, watch, phone
show/showed/shown | montrer | 给{i}看~{} | thing, reading, photo, painting, watch, phone, clothing, hat
send/sent/sent | envoyer | 给{i}寄~{} | letter, book, gift, photo, box, magazine, newspaper, suitcase
lend/lent/lent | prêter | 借给~{i}{} | book, pen, umbrella, car, bicycle, coat, guitar, camera, dictionary, suitcase
sell/sold/sold | vendre | 卖给~{i}{} | car, bicycle, guitar, piano, painting, watch, camera, table, boat, computer
bring/brought/brought | apporter | 给{i}带来~{} | thing, reading, fruit, flower, coat, hat, chair

like
like | aimer | 喜欢 | dish, drink, language
hate | détester | 讨厌 | dish, drink

learn
learn | apprendre | 学习 | language
teach/taught/taught | enseigner | 教 | language

activity
swim/swam/swum/swimming | nager | 游~泳
sing/sang/sung | chanter | 唱~歌
dance | danser | 跳~舞
run/ran/run/running | courir | 跑~步
cook | cuisiner | 做~饭
travel/travelled/travelled/travelling | voyager | 旅行
sleep/slept/slept | dormir | 睡~觉
work | travailler | 工作
play football | jouer au football | 踢~足球
play tennis | jouer au tennis | 打~网球
play chess | jouer aux échecs | 下~棋
play cards | jouer aux cartes | 打~牌
play basketball | jouer au basket | 打~篮球
play the piano | jouer du piano | 弹~钢琴
play the violin | jouer du violon | 拉~小提琴
listen to the radio | écouter la radio | 听~广播
listen to music | écouter de la musique | 听~音乐
watch television | regarder la télévision | 看~电视
go/went/gone shopping | faire des courses | 购物
do/did/done the dishes | faire la vaisselle | 洗~碗
read/read/read comics | lire des bandes dessinées | 看~漫画
take/took/taken photos | prendre des photos | 拍~照

routine
get/got/got/getting up | se lever | 起床
wake/woke/woken up | se réveiller | 醒来
go/went/gone to bed | se coucher | 上床睡觉
get/got/got/getting dressed | se habiller | 穿衣服
rest | se reposer | 休息
take/took/taken a walk | se promener | 散步
take/took/taken a shower | se doucher | 洗澡

motion
go/went/gone to | aller à | 去 | building, outdoors
arrive at | arriver à | 到达 | building, outdoors
go/went/gone back to | retourner à | 回到 | building, outdoors

cross
cross | traverser | 穿过 | street, road, river, bridge, forest, field, valley, square, avenue, tunnel, lake, desert
follow | suivre | 沿着{}走~ | street, road, river, path, avenue
enter | entrer dans | 走进 | forest, tunnel, cave, garage, cellar, kitchen, garden
jump over | sauter par-dessus | 跳过 | wall, fence, hedge

taste
eat/ate/eaten | manger | 吃 | fruit, dish
drink/drank/drunk | boire | 喝 | drink

fit
fit/fit/fit/fitting in | entrer dans | 能放进 | box, suitcase, bag, basket, wardrobe, fridge

wear
wear/wore/worn | porter | 穿着 | clothing
wear/wore/worn | porter | 戴着 | headwear

have
have/had/had | avoir | 有 | pet, house, private, thing, reading, clothing, headwear, furniture, device, instrument

start
start | commencer | 开始 | event

stay
live/lived/lived | habiter | 住在
"""

NAMES = """
m
Paul | 保罗
Thomas | 托马斯
Lucas | 卢卡斯
Martin | 马丁
David | 大卫
Simon | 西蒙
Victor | 维克多
Daniel | 丹尼尔
f
Marie | 玛丽
Anna | 安娜
Julie | 朱莉
Emma | 艾玛
Sarah | 萨拉
Laura | 劳拉
Alice | 爱丽丝
Nina | 尼娜
"""

TIMES = """
past
yesterday | hier | 昨天
yesterday morning | hier matin | 昨天早上
last night | hier soir | 昨天晚上
last Sunday | dimanche dernier | 上个星期天
last Friday | vendredi dernier | 上个星期五
two days ago | il y a deux jours | 两天前
far past
last week | la semaine dernière | 上个星期
last month | le mois dernier | 上个月
last year | l'année dernière | 去年
last summer | l'été dernier | 去年夏天
three weeks ago | il y a trois semaines | 三个星期前
future
tomorrow | demain | 明天
tomorrow morning | demain matin | 明天早上
tomorrow evening | demain soir | 明天晚上
tonight | ce soir | 今天晚上
next Monday | lundi prochain | 下个星期一
in two days | dans deux jours | 两天后
far future
next week | la semaine prochaine | 下个星期
next month | le mois prochain | 下个月
next year | l'année prochaine | 明年
next summer | l'été prochain | 明年夏天
habit
every day | tous les jours | 每天
every morning | tous les matins | 每天早上
every evening | tous les soirs | 每天晚上
every week | toutes les semaines | 每个星期
every Sunday | tous les dimanches | 每个星期天
every Friday | tous les vendredis | 每个星期五
every summer | tous les étés | 每年夏天
adverb
often | souvent | 经常
always | toujours | 总是
sometimes | parfois | 有时候
rarely | rarement | 很少
"""

PLACES = """
city
Paris | Paris | 巴黎
London | Londres | 伦敦
Beijing | Pékin | 北京
Shanghai | Shanghai | 上海
Rome | Rome | 罗马
Berlin | Berlin | 柏林
Tokyo | Tokyo | 东京
Madrid | Madrid | 马德里
Geneva | Genève | 日内瓦
Moscow | Moscou | 莫斯科
country
France | la France | 法国
China | la Chine | 中国
Italy | l'Italie | 意大利
Spain | l'Espagne | 西班牙
Germany | l'Allemagne | 德国
England | l'Angleterre | 英国
Japan | le Japon | 日本
Canada | le Canada | 加拿大
Brazil | le Brésil | 巴西
Russia | la Russie | 俄罗斯
"""
